package proctor

import (
	"fmt"
	"io"
	"time"
)

// progressEvery is the least time between two lines of progress.
const progressEvery = 3 * time.Second

// progress tells a person who waits how far a command is: a line at the start,
// then one in progressEvery at the most. One goroutine calls it.
type progress struct {
	w     io.Writer
	now   func() time.Time
	total int

	command, unit string

	done        int
	began, last time.Time
}

func newProgress(w io.Writer, command, unit string, total int, now func() time.Time) *progress {
	began := now()
	p := &progress{w: w, command: command, unit: unit, total: total, now: now, began: began, last: began}
	p.say("")
	return p
}

// step says that one more is done.
func (p *progress) step() {
	p.done++
	t := p.now()
	if t.Sub(p.last) < progressEvery || p.done >= p.total {
		return
	}
	p.last = t
	took := t.Sub(p.began)
	left := took / time.Duration(p.done) * time.Duration(p.total-p.done)
	p.say(fmt.Sprintf(" in %v, about %v left", took.Round(time.Second), left.Round(time.Second)))
}

func (p *progress) say(more string) {
	fmt.Fprintf(p.w, "proctor %s: %d of %d %s%s\n", p.command, p.done, p.total, p.unit, more)
}
