package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// patience is the time that a run has. Code that is asleep has less of it than
// code that is at work or would be: what the processor is kept from, because the
// machine is busy, is not to lose its reward for that.
type patience struct {
	asleep time.Duration
	end    time.Time
	late   time.Time   // when the one moment beyond end is over, zero if it has not been asked for
	until  time.Time   // the end of what the caller waits for, zero for none
	gone   atomic.Bool // the caller has given up
}

// start sets the time of a job. However long the caller waits, a run never
// uses up its time: a call that was cancelled is no verdict, and none must be
// in the agent's power.
func (c *child) start(lim Limits) error {
	wall := lim.Wall
	if u := c.patience.until; !u.IsZero() {
		wall = min(wall, time.Until(u)*4/5)
	}
	c.patience.asleep = min(lim.Asleep, wall)
	return c.resume(c.patience.asleep, wall)
}

// resume gives a child what is left of its time.
func (c *child) resume(asleep, wall time.Duration) error {
	now := time.Now()
	c.patience.end, c.patience.late = now.Add(wall), time.Time{}
	return c.job.SetDeadline(now.Add(min(asleep, wall)))
}

// extend moves a deadline that has passed, if code of the child is at work and
// its time is not over.
func (c *child) extend() bool {
	p := &c.patience
	left := time.Until(p.end)
	if left <= 0 || p.gone.Load() || !c.working() {
		return false
	}
	if c.job.SetDeadline(time.Now().Add(min(p.asleep, left))) != nil {
		return false
	}
	return !p.gone.Load() // else the child has been killed, and the read says so
}

// moment is what a child gets to answer when its time is over before we look.
const moment = 20 * time.Millisecond

// patient reads from the child and writes to it, beyond the deadline where it
// may be moved. At a deadline it tries once more: what has come by then, and we
// were too late to read, and what the child waits for, and we were too late to
// write, are no failings of the child's.
type patient struct{ c *child }

func (r patient) Read(b []byte) (int, error) {
	for {
		n, err := r.c.job.Read(b)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if r.c.extend() {
			continue
		}
		// It may sleep because it has answered, if only while it was looked at.
		if !r.c.again() {
			return n, err
		}
		if n, err = r.c.job.Read(b); n > 0 {
			r.c.refresh()
		}
		return n, err
	}
}

func (r patient) Write(b []byte) (int, error) {
	n, err := r.c.job.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) && r.c.again() {
		var more int
		if more, err = r.c.job.Write(b[n:]); err == nil {
			r.c.refresh()
		}
		n += more
	}
	return n, err
}

// again gives a moment beyond a deadline, and after the end of the whole time
// one moment in all.
func (c *child) again() bool {
	p := &c.patience
	now := time.Now()
	until := now.Add(moment)
	if now.After(p.end) {
		if p.late.IsZero() {
			p.late = until
		}
		until = p.late
	}
	return now.Before(until) && !p.gone.Load() && c.job.SetDeadline(until) == nil && !p.gone.Load()
}

// refresh sets the deadline anew after a child turned out to have been in time.
func (c *child) refresh() {
	p := &c.patience
	if left := time.Until(p.end); left > 0 && !p.gone.Load() {
		_ = c.job.SetDeadline(time.Now().Add(min(p.asleep, left))) // a failure shows in the next read
	}
}

// working reports whether a thread of the child's tree runs or waits for the
// processor or the disk. Code that mostly sleeps is caught sleeping.
func (c *child) working() bool {
	pid := c.pid()
	if pid == 0 {
		return false
	}
	seen := 0
	for i := range 5 {
		if i > 0 {
			time.Sleep(7 * time.Millisecond) //nolint:forbidigo // samples in time
		}
		if treeWorks(pid, 0) {
			seen++
		}
	}
	return seen >= 2
}

func treeWorks(pid, depth int) bool {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil || depth > 40 {
		return false
	}
	for _, t := range tasks {
		stat, err := os.ReadFile(t + "/stat")
		if i := bytes.LastIndexByte(stat, ')'); err == nil && i > 0 && len(stat) > i+2 && (stat[i+2] == 'R' || stat[i+2] == 'D') {
			return true
		}
		below, err := os.ReadFile(t + "/children")
		if err != nil {
			continue // it has just ended
		}
		for _, f := range strings.Fields(string(below)) {
			if n, err := strconv.Atoi(f); err == nil && treeWorks(n, depth+1) {
				return true
			}
		}
	}
	return false
}
