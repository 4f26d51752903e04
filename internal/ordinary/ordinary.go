//go:build unix

// Package ordinary runs a test binary again as a user without any right, for
// tests of what confines code: what holds for root may fail for others, and the
// other way round. Tests call it; nothing else does.
package ordinary

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// user is nobody's on every system that we know of.
const user = 65534

// Run says what the other user runs.
type Run struct {
	Args    []string          // such as -test.run=Name
	Env     []string          // beside PATH, HOME and TMPDIR
	Folders map[string]string // copied into its working folder, name to source
}

// Again runs the calling test binary as an ordinary user, in a folder of its
// own, and returns what it printed. It fails tb if that did not pass or if no
// test ran. Without root there is nothing to do.
func Again(tb testing.TB, r Run) string {
	tb.Helper()
	if os.Geteuid() != 0 {
		tb.Log("this is an ordinary user already")
		return ""
	}
	dir, err := os.MkdirTemp("", "ordinary") //nolint:usetesting // the other user could not get into tb.TempDir
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	}()
	for name, from := range r.Folders {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(from)); err != nil {
			tb.Fatal(err)
		}
	}
	tmp, bin := filepath.Join(dir, "tmp"), filepath.Join(dir, "ordinary.test")
	path, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	self, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	for _, err := range []error{
		os.WriteFile(bin, self, 0o755), os.Mkdir(tmp, 0o755), // the umask may have its way with both
		os.Chmod(bin, 0o755), os.Chmod(tmp, 0o777), os.Chmod(dir, 0o755),
	} {
		if err != nil {
			tb.Fatal(err)
		}
	}
	cmd := exec.CommandContext(tb.Context(), bin, r.Args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent", "TMPDIR=" + tmp}, r.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "PASS") || strings.Contains(string(out), "no tests to run") {
		tb.Errorf("as an ordinary user: %v\n%s", err, out)
	}
	return string(out)
}
