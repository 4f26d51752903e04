//go:build linux

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/proctor-rl/proctor/internal/cli/proctor"
)

// asServer makes the test's program a server: one that can be killed.
const asServer = "PROCTOR_E2E_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		code := proctor.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
		stop()
		os.Exit(code)
	}
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// serveApart starts "proctor serve" as a process of its own.
func serveApart(t *testing.T, args ...string) (string, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", append([]string{"serve", "--listen", "127.0.0.1:0", "--log-level", "error"}, args...)...) //nolint:noctx // ended by the clean-up
	cmd.Env = append(os.Environ(), asServer+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have been killed by the test
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening ")
	if err != nil || !ok {
		t.Fatalf("the server said %q, %v", line, err)
	}
	return url, cmd
}

// descendants are all processes below pid.
func descendants(pid int) []int {
	var out []int
	for _, c := range children(pid) {
		out = append(append(out, c), descendants(c)...)
	}
	return out
}

// A server that is killed in the middle of a run loses no episode: what had
// ended is as it was, what had not has failed and has no reward. None of its
// processes and control groups stays.
func TestServerKilledMidRun(t *testing.T) {
	args := []string{"--data", t.TempDir(), "--tasks", caseTasks(t)}
	base, cmd := serveApart(t, args...)
	ended, idle, fresh, running := repaired(t, base, 1), repaired(t, base, 2), repaired(t, base, 3), repaired(t, base, 4)
	if _, reward := ended.finish(t); reward == nil || *reward != 1 {
		t.Fatal("right code was not paid")
	}
	slow, err := toolCalls("edit_file", map[string]any{"path": "solution.py", "content": "import os, time\nos.fork()\ntime.sleep(60)\n"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := running.step(t.Context(), slow); err != nil {
		t.Fatal(err)
	}
	lost := make(chan error, 1)
	go func() {
		call, err := toolCalls("finish", map[string]any{})
		if err == nil {
			_, err = Post(context.WithoutCancel(t.Context()), running.base+"/envs/"+running.env+"/step", map[string]any{"action": call})
		}
		lost <- err
	}()
	time.Sleep(2 * time.Second)
	below := descendants(cmd.Process.Pid)
	if len(below) < 6 { // two interpreters behind their launchers, and children
		t.Errorf("only %d processes were found below the server", len(below))
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if err := <-lost; err == nil {
		t.Error("the step that ran was answered")
	}
	gone := func() (left int) {
		for _, pid := range below {
			if syscall.Kill(pid, 0) == nil {
				left++
			}
		}
		return left
	}
	for i := 0; gone() > 0; i++ {
		if i == 1000 {
			t.Fatalf("%d processes of the killed server are left", gone())
		}
		time.Sleep(10 * time.Millisecond)
	}

	base, _ = serveApart(t, args...)
	for _, c := range []struct {
		what, status string
		reward       any
		e            *episode
	}{
		{"that had ended", "terminated", 1.0, ended},
		{"between two steps", "failed", nil, idle},
		{"between two steps", "failed", nil, fresh},
		{"in a step", "failed", nil, running},
	} {
		id := fmt.Sprint(c.e.replies[0].Body["episode_id"])
		rec, err := get(base + "/episodes/" + id)
		if err != nil || rec["status"] != c.status || rec["return"] != c.reward {
			t.Errorf("the episode %s is recorded as %v with %v, %v", c.what, rec["status"], rec["return"], err)
		}
	}
	for _, p := range []string{"/sys/fs/cgroup/*/proctor-%d-*", "/sys/fs/cgroup/*/*/proctor-%d-*", "/sys/fs/cgroup/*/*/*/proctor-%d-*"} {
		if left, err := filepath.Glob(fmt.Sprintf(p, cmd.Process.Pid)); err != nil || len(left) > 0 {
			t.Errorf("control groups are left: %v", left)
		}
	}
	if _, reward := repaired(t, base, 5).finish(t); reward == nil || *reward != 1 {
		t.Error("right code was not paid by the next server")
	}
}
