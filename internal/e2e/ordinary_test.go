//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ordinary names the folders of cases that TestCodeCases plays, in the process
// that TestAsOrdinaryUser starts.
const ordinary = "PROCTOR_TEST_ORDINARY"

// TestAsOrdinaryUser plays the cases on code again, own and outside ones, with
// server and sandbox as a user without any right, if the tests run as root.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("this is an ordinary user already")
		return
	}
	dir, err := os.MkdirTemp("", "ordinary") //nolint:usetesting // the other user could not get into t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	folders := []string{"own"}
	if err := os.CopyFS(filepath.Join(dir, "own"), os.DirFS("testdata/cases")); err != nil {
		t.Fatal(err)
	}
	if outside := os.Getenv("PROCTOR_CASES"); outside != "" {
		folders = append(folders, "outside")
		if err := os.CopyFS(filepath.Join(dir, "outside"), os.DirFS(outside)); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []struct {
		path string
		mode os.FileMode
	}{{dir, 0o755}, {filepath.Join(dir, "tmp"), 0o777}} {
		if err := os.MkdirAll(d.path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(d.path, d.mode); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "ordinary.test")
	if err := os.WriteFile(bin, self, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bin, "-test.run=^TestCodeCases$", "-test.v")
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent", "TMPDIR=" + filepath.Join(dir, "tmp"),
		ordinary + "=" + strings.Join(folders, ","),
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as an ordinary user: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if _, counts, ok := strings.Cut(line, "counted "); ok {
			t.Log(strings.TrimSpace(counts))
		}
	}
}

// TestCodeCases is what TestAsOrdinaryUser starts.
func TestCodeCases(t *testing.T) {
	folders := os.Getenv(ordinary)
	if folders == "" {
		t.Log("started by TestAsOrdinaryUser")
		return
	}
	for dir := range strings.SplitSeq(folders, ",") {
		driven, _ := playAll(t, dir, Case.code)
		t.Logf("counted %s: %d cases on code as user %d", dir, driven, os.Geteuid())
		if driven < 50 {
			t.Errorf("%s: %d cases on code, want at least 50", dir, driven)
		}
	}
}
