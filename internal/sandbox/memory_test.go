//go:build linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// memoryGroup makes a control group with a limit of memory below this process's
// own, of the version that this machine's sandbox works with.
func memoryGroup(t *testing.T, limit int64) string {
	t.Helper()
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	dir, file := "", ""
	for _, line := range strings.Split(strings.TrimSpace(string(own)), "\n") {
		part := strings.SplitN(line, ":", 3)
		switch {
		case len(part) != 3:
		case part[1] == "memory":
			dir, file = filepath.Join("/sys/fs/cgroup/memory", part[2]), "memory.limit_in_bytes"
		case part[1] == "" && dir == "":
			dir, file = filepath.Join("/sys/fs/cgroup", part[2]), "memory.max"
			if filepath.Base(dir) == "server" { // the pool has stepped aside
				dir = filepath.Dir(dir)
			}
		}
	}
	dir = filepath.Join(dir, fmt.Sprintf("short-%d", os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("this needs a group of the memory controller: %v", err)
	}
	t.Cleanup(func() {
		for i := 0; i < 100; i++ { // its last process may be on its way out
			_ = os.Remove(filepath.Join(dir, "server")) // version 2 only
			if os.Remove(dir) == nil {
				return
			}
			<-time.After(20 * time.Millisecond)
		}
		t.Errorf("%s is left", dir)
	})
	if err := os.WriteFile(filepath.Join(dir, file), []byte(strconv.FormatInt(limit, 10)), 0); err != nil {
		t.Skipf("this needs the memory controller: %v", err)
	}
	return dir
}

// A run that is killed because the server has too little memory, and not for
// going beyond its own limit, is no failure of the agent's.
func TestShortOfMemoryIsOurs(t *testing.T) {
	if m := pool(t).Mode(); !strings.Contains(string(m), "cgroup") {
		t.Skipf("this needs control groups, and the mode is %s", m)
	}
	dir := memoryGroup(t, 250<<20)
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = append(os.Environ(), "SANDBOX_TEST_SHORT="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "ours: true, then 1") {
		t.Errorf("%v: %s", err, out)
	}
}

// serveShortOfMemory is the body of the process in that group.
func serveShortOfMemory() {
	dir := os.Getenv("SANDBOX_TEST_SHORT")
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte("0"), 0); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	p, err := New(context.Background(), Config{CallChildren: 1, PytestChildren: 1})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	run := func(text string) (CallsResult, error) {
		return p.Calls(context.Background(), CallsJob{Files: solution(text), Calls: []Call{{Fn: "f"}}, Limits: Limits{Wall: time.Minute, CPU: 30 * time.Second}})
	}
	res, err := run("def f(): return len(bytearray(b'x') * (400 << 20))")
	fmt.Print("ours: ", errors.Is(err, ErrInfra))
	if !errors.Is(err, ErrInfra) {
		fmt.Printf(" (%+v, %v)", res, err)
	}
	if res, err = run("def f(): return 1"); err != nil {
		fmt.Println(err)
		p.Close()
		os.Exit(1)
	}
	fmt.Println(", then", res.Answers[0].Value)
	p.Close()
}
