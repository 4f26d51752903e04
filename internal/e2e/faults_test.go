//go:build linux

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fixedListed repairs the task "listed".
const fixedListed = "def listed(words):\n    if len(words) < 2:\n        return \"\".join(words)\n    return \", \".join(words[:-1]) + \" and \" + words[-1]\n"

// faultyServer serves the tasks of this package's cases.
func faultyServer(t *testing.T, args ...string) string {
	t.Helper()
	return Serve(t, append([]string{"--tasks", caseTasks(t), "--log-level", "error"}, args...)...)
}

// caseTasks is a folder with the task files of this package's cases.
func caseTasks(t *testing.T) string {
	t.Helper()
	tasks := t.TempDir()
	if err := os.Mkdir(filepath.Join(tasks, "codefix"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := codeTasks("testdata/cases", filepath.Join(tasks, "codefix")); err != nil {
		t.Fatal(err)
	}
	return tasks
}

// repaired is an episode of "listed" in which only finish is missing. No two
// have the same text, so that no verdict is remembered.
func repaired(t *testing.T, base string, n int) *episode {
	t.Helper()
	e, err := open(t.Context(), base, "codefix", "listed")
	if err != nil {
		t.Fatal(err)
	}
	edit, err := toolCalls("edit_file", map[string]any{"path": "solution.py", "content": fixedListed + fmt.Sprintf("# %d\n", n)})
	if err == nil {
		_, err = e.step(t.Context(), edit)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// finish ends an episode; the reward is nil where there is none.
func (e *episode) finish(t *testing.T) (Reply, *float64) {
	t.Helper()
	call, err := toolCalls("finish", map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Post(t.Context(), e.base+"/envs/"+e.env+"/step", map[string]any{"action": call})
	if err != nil {
		t.Fatal(err)
	}
	if reward, ok := r.reward(); ok {
		return r, &reward
	}
	return r, nil
}

// failures reads the counter of failures of a server at one boundary.
func failures(t *testing.T, base, boundary string) float64 {
	t.Helper()
	resp, err := http.Get(base + "/metrics") //nolint:noctx // bounded by the test
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^proctor_failures_total\{boundary="` + boundary + `",env="codefix"\} (\S+)$`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("no counter of failures at %s", boundary)
	}
	n, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// children are the processes that a process has started.
func children(pid int) []int {
	var out []int
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, l := range lists {
		text, err := os.ReadFile(l)
		if err != nil {
			continue // the thread has just ended
		}
		for _, f := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(f); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

// warm are the processes that fork the children in which agent code runs:
// each is the only child of an interpreter that the server has started.
func warm(t *testing.T) []int {
	t.Helper()
	var out []int
	for _, launcher := range children(os.Getpid()) {
		out = append(out, children(launcher)...)
	}
	if len(out) == 0 {
		t.Fatal("no warm interpreter was found")
	}
	return out
}

// inNamespace runs a command in the user namespace of pid, where it may do
// what the kernel's own limits leave to that namespace.
func inNamespace(t *testing.T, pid int, command ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "nsenter", append([]string{"-U", "-t", strconv.Itoa(pid)}, command...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("nsenter: %v\n%s", err, out)
	}
}

// breaksDown plays repaired episodes while our side is broken, until some have
// failed. What is judged at all must be judged as it deserves: children that
// were ready before the fault still serve. It tells of the failures.
func breaksDown(t *testing.T, base string, break_, mend func()) {
	t.Helper()
	var es []*episode
	for n := range 10 {
		es = append(es, repaired(t, base, n))
	}
	before := failures(t, base, "step")
	break_()
	failed := 0
	for _, e := range es {
		r, reward := e.finish(t)
		switch {
		case reward != nil && *reward == 1:
			continue
		case reward != nil || r.Status != http.StatusOK || r.Body["status"] != "failed" || !r.done():
			t.Errorf("a fault of ours was answered with %d %.400s", r.Status, r.Raw)
		}
		failed++
		rec, err := get(base + "/episodes/" + fmt.Sprint(e.replies[0].Body["episode_id"]))
		if err != nil {
			t.Fatal(err)
		}
		if rec["status"] != "failed" || rec["return"] != nil {
			t.Errorf("the record says %v, reward %v", rec["status"], rec["return"])
		}
		if failed == 3 {
			break
		}
	}
	if failed < 3 {
		t.Errorf("only %d of %d episodes failed: the fault is none", failed, len(es))
	}
	if rise := failures(t, base, "step") - before; rise != float64(failed) {
		t.Errorf("%d episodes failed and the counter rose by %g", failed, rise)
	}
	mend()
	for n := range 60 {
		e := repaired(t, base, 1000+n)
		if _, reward := e.finish(t); reward != nil {
			if *reward != 1 {
				t.Errorf("after it was mended, right code earned %g", *reward)
			}
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	t.Error("nothing is judged although it was mended")
}

// The kernel refuses to fork: the user has as many processes as it may have.
func TestForkFails(t *testing.T) {
	base := faultyServer(t)
	limit := func(soft string) {
		for _, pid := range warm(t) {
			inNamespace(t, pid, "prlimit", "--pid", strconv.Itoa(pid), "--nproc="+soft+":")
		}
	}
	breaksDown(t, base, func() { limit("0") }, func() { limit("4000") })
}

// The kernel has no room for another namespace: the children that are forked
// cannot be confined, and none may run code all the same.
func TestNamespacesRunOut(t *testing.T) {
	base := faultyServer(t)
	limit := func(n string) {
		for _, pid := range warm(t) {
			inNamespace(t, pid, "sh", "-c", "echo "+n+" >/proc/sys/user/max_mnt_namespaces")
		}
	}
	breaksDown(t, base, func() { limit("0") }, func() { limit("1000") })
}

// The interpreter goes away while the server runs, and with it all that were
// warm.
func TestInterpreterGoesAway(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "python")
	if out, err := exec.CommandContext(t.Context(), "python3", "-m", "venv", "--without-pip", "--system-site-packages", dir).CombinedOutput(); err != nil {
		t.Fatalf("make an environment: %v\n%s", err, out)
	}
	base := faultyServer(t, "--python", filepath.Join(dir, "bin", "python3"))
	breaksDown(t, base, func() {
		if err := os.Rename(dir, dir+".away"); err != nil {
			t.Fatal(err)
		}
		for _, pid := range interpreters() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have gone
		}
	}, func() {
		if err := os.Rename(dir+".away", dir); err != nil {
			t.Fatal(err)
		}
	})
}

// The disk on which the unsafe mode lays out workspaces is full; the other
// modes have none.
func TestDiskIsFull(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small disk")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,mode=1777"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	tasks := caseTasks(t)
	data := t.TempDir()
	t.Setenv("TMPDIR", dir)
	base := Serve(t, "--tasks", tasks, "--data", data, "--log-level", "error", "--sandbox", sandboxNone)
	fill := filepath.Join(dir, "fill")
	breaksDown(t, base, func() {
		f, err := os.Create(fill)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if n, err := f.Write(make([]byte, 1<<20)); err == nil {
			t.Fatalf("%d bytes went onto a disk of 64 KiB", n)
		}
	}, func() {
		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
	})
}

const sandboxNone = "none-UNSAFE"
