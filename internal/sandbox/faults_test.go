//go:build linux

package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// descendants lists the processes below pid.
func descendants(pid int) []int {
	parents := map[int]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, s := range stats {
		text, err := os.ReadFile(s)
		if err != nil {
			continue // it has just ended
		}
		rest := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		id, _ := strconv.Atoi(strings.Split(s, "/")[2])
		parents[id], _ = strconv.Atoi(rest[1])
	}
	var out []int
	for id := range parents {
		for up := parents[id]; up > 0; up = parents[up] {
			if up == pid {
				out = append(out, id)
				break
			}
		}
	}
	return out
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 1000 {
		if f() {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

// Losing the warm interpreter in the middle of a run is our fault: the run is
// played again and the pool recovers.
func TestInterpreterKilledMidRun(t *testing.T) {
	p := newPool(t, Config{})
	works(t, p)
	var wg sync.WaitGroup
	var res CallsResult
	var err error
	wg.Go(func() {
		res, err = p.Calls(context.Background(), CallsJob{
			Files: solution("import time\ndef f():\n    time.sleep(1.5)\n    return 5"), Calls: []Call{{Fn: "f"}}, Limits: Limits{Wall: 20 * time.Second},
		})
	})
	eventually(t, "the run has taken its child", func() bool {
		// A child that waits is ready; that it is replaced at once must not matter.
		s := p.Stats()
		return s.Live["calls"] > s.Ready["calls"]
	})
	pid := p.Stats().PIDs[0]
	below := descendants(pid)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if err != nil || res.Fault != FaultNone || res.Answers[0].Value.String() != "5" {
		t.Errorf("the run gave %+v, %v", res, err)
	}
	eventually(t, "the lost interpreter's processes are gone", func() bool {
		for _, d := range below {
			if unix.Kill(d, 0) == nil {
				return false
			}
		}
		return true
	})
	works(t, p)
}

// An interpreter that goes away while it makes a child is noticed at once, not
// when the child should have been ready at the latest.
func TestInterpreterKilledMidFork(t *testing.T) {
	p := newPool(t, Config{})
	for i := range 12 {
		z, err := startZygote(p.plan, kindCalls)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			for {
				c, err := z.fork(nil, true, "")
				if err != nil {
					ended <- err
					return
				}
				c.release()
			}
		}()
		<-time.After(time.Duration(3*i) * time.Millisecond)
		if err := unix.Kill(z.cmd.Process.Pid, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if !errors.Is(err, errLost) {
				t.Errorf("killed after %d ms: %v, want errLost", 3*i, err)
			}
		case <-time.After(startTimeout / 2):
			t.Fatalf("killed after %d ms: fork still waits", 3*i)
		}
		z.stop()
	}
}

// An interpreter that hangs is as good as lost: the runs under it are played
// again on another, soon.
func TestInterpreterStopped(t *testing.T) {
	p := newPool(t, Config{})
	works(t, p)
	for _, pid := range p.Stats().PIDs {
		for _, z := range children(pid) {
			if err := unix.Kill(z, unix.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		}
	}
	begin := time.Now()
	for range 3 {
		works(t, p)
	}
	for range 3 {
		r, err := p.Proxied(context.Background(), ProxiedJob{Files: solution("def f(): return 1"), Tests: Files{"test_a.py": []byte("import solution\ndef test_a(): assert solution.f() == 1\n")}})
		if err != nil || !r.AllPassed() {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if took := time.Since(begin); took > startTimeout {
		t.Errorf("took %s", took)
	}
}

// children lists the processes right below pid.
func children(pid int) []int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	var out []int
	for _, f := range strings.Fields(string(text)) {
		if n, err := strconv.Atoi(f); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// A kill of the whole server leaves no process behind.
func TestServerKilledMidRun(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = append(os.Environ(), "SANDBOX_TEST_SERVER=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "running") {
		t.Fatalf("the second server said %q, %v", line, err)
	}
	below := descendants(cmd.Process.Pid)
	if len(below) < 4 { // two interpreters, each behind its launcher
		t.Errorf("only %d processes were found below the server", len(below))
	}
	cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	eventually(t, fmt.Sprintf("all of %v are gone", below), func() bool {
		for _, d := range below {
			if unix.Kill(d, 0) == nil {
				return false
			}
		}
		return true
	})
	// The next server removes the control groups of the one that was killed.
	newPool(t, Config{})
	if left := groupsOf(cmd.Process.Pid); len(left) > 0 {
		t.Errorf("control groups are left: %v", left)
	}
}

// A failure on our side is an error of its own kind, never a result.
func TestInfrastructureFaultIsNoResult(t *testing.T) {
	var events []Event
	var mu sync.Mutex
	p := newPool(t, Config{Observe: func(e Event) { mu.Lock(); events = append(events, e); mu.Unlock() }})
	works(t, p)
	for _, l := range []*lane{p.calls, p.pytest} {
		l.mu.Lock()
		l.inject = "no space left on device"
		l.mu.Unlock()
	}
	var err error
	for range 4 { // children that are ready already still serve
		if _, err = p.Calls(context.Background(), CallsJob{Files: solution("def f(): return 1"), Calls: []Call{{Fn: "f"}}}); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrInfra) || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v, want ErrInfra", err)
	}
	for range 4 {
		if _, err = p.Pytest(context.Background(), PytestJob{Files: Files{"test_a.py": []byte("def test_a(): pass")}}); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrInfra) {
		t.Errorf("got %v, want ErrInfra", err)
	}
	for _, l := range []*lane{p.calls, p.pytest} {
		l.mu.Lock()
		l.inject = ""
		l.mu.Unlock()
	}
	eventually(t, "the pool recovers", func() bool {
		_, err := p.Calls(context.Background(), CallsJob{Files: solution("def f(): return 1"), Calls: []Call{{Fn: "f"}}})
		return err == nil
	})
	mu.Lock()
	defer mu.Unlock()
	infra := 0
	for _, e := range events {
		if e.Infra {
			infra++
		}
	}
	if infra < 2 {
		t.Errorf("the observer saw %d faults of ours", infra)
	}
}

func TestCancelledAndClosed(t *testing.T) {
	p := newPool(t, Config{})
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	begin := time.Now()
	_, err := p.Calls(ctx, CallsJob{Files: solution("import time\ntime.sleep(60)"), Limits: Limits{Wall: time.Minute}})
	if !errors.Is(err, context.Canceled) || time.Since(begin) > 10*time.Second {
		t.Errorf("cancelled run: %v after %s", err, time.Since(begin))
	}
	works(t, p)
	p.Close()
	if _, err := p.Calls(context.Background(), CallsJob{Files: solution("")}); !errors.Is(err, ErrClosed) {
		t.Errorf("closed pool: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// The unsafe mode works and cannot be overlooked.
func TestUnsafeModeIsLoud(t *testing.T) {
	var log bytes.Buffer
	p := newPool(t, Config{Mode: ModeNone, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if !strings.Contains(log.String(), "UNSAFE") || p.Mode().Safe() {
		t.Errorf("mode %s, log %q", p.Mode(), log.String())
	}
	works(t, p)
	r, err := p.Pytest(context.Background(), PytestJob{Files: Files{"test_a.py": []byte("import solution\ndef test_a(): assert solution.f() == 1"), "solution.py": []byte("def f(): return 1")}})
	if err != nil || !r.AllPassed() {
		t.Errorf("%+v, %v", r, err)
	}
	rep, err := p.Probe(context.Background())
	if err != nil || rep.OK() {
		t.Errorf("the probe believes that nothing is something: %+v, %v", rep, err)
	}
}
