package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// A warm interpreter that was stopped, or hangs in the kernel, says nothing and
// does not end. Whoever waits for its word looks now and then whether it is at
// work, and ends it if it has not been for a while: what waits is then told that
// it is lost, and played again on another.
const (
	watchEvery  = time.Second
	idleTooLong = 5 // looks in a row at an interpreter that owes an answer and does nothing
)

// watch waits until got is closed or holds something, and abandons the
// interpreter if that takes too long.
func watch[T any](z *zygote, got <-chan T) T {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	end := time.Now().Add(startTimeout)
	for idle := 0; ; {
		select {
		case v := <-got:
			return v
		case <-tick.C:
		}
		if idle++; z.busy() {
			idle = 0
		}
		if idle >= idleTooLong || time.Now().After(end) {
			z.abandon()
			return <-got // the listener tells, now that it hears nothing more
		}
	}
}

// abandon ends an interpreter that does not answer.
func (z *zygote) abandon() {
	z.log.Error("a warm interpreter does not answer", "kind", string(z.kind))
	z.cmd.Process.Kill() // the process behind it dies with it
	z.ctl.Close()
}

// busy reports whether the interpreter is at work or waits for the disk.
func (z *zygote) busy() bool {
	pid := z.cmd.Process.Pid
	if z.confined {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		if err != nil {
			return false
		}
		if pid, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
			return false
		}
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	i := bytes.LastIndexByte(stat, ')')
	return err == nil && i > 0 && len(stat) > i+2 && (stat[i+2] == 'R' || stat[i+2] == 'D')
}

// awaitEnd waits for word of the end of a child that has been killed.
func (c *child) awaitEnd() { watch(c.z, c.exited) }

// expendable lets the kernel take code of agents first where the machine runs
// out of memory, before the server and what all runs share.
func (c *child) expendable() {
	if pid := c.pid(); pid > 0 {
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("1000"), 0) // as good as it goes
	}
}

// pid is the child's as we see it, 0 once it has ended.
func (c *child) pid() int {
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", c.pidfd))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(info), "\nPid:")
	line, _, _ := strings.Cut(rest, "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || pid <= 0 {
		return 0
	}
	return pid
}
