package trainer

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// progress shows one line that is rewritten in place, or, plain, a line every
// now and then.
type progress struct {
	w     io.Writer
	plain bool
	last  time.Time
	width int
}

// plainEvery is the time between two lines of plain output.
const plainEvery = 5 * time.Second

func (p *progress) line(now time.Time, force bool, format string, args ...any) {
	if p.w == nil {
		return
	}
	s := fmt.Sprintf(format, args...)
	if p.plain {
		if force || now.Sub(p.last) >= plainEvery {
			p.last = now
			fmt.Fprintln(p.w, s)
		}
		return
	}
	pad := max(0, p.width-len(s))
	p.width = len(s)
	fmt.Fprintf(p.w, "\r%s%s", s, strings.Repeat(" ", pad))
	if force {
		fmt.Fprintln(p.w)
		p.width = 0
	}
}

// note is a line of its own.
func (p *progress) note(format string, args ...any) {
	if p.w == nil {
		return
	}
	if p.width > 0 {
		fmt.Fprintln(p.w)
		p.width = 0
	}
	fmt.Fprintf(p.w, format+"\n", args...)
}

// bar is ten characters of how far x in [0,1] is.
func bar(x float64) string {
	n := int(x*10 + 0.5)
	n = max(0, min(10, n))
	return strings.Repeat("#", n) + strings.Repeat(".", 10-n)
}

func eta(done, total int, spent time.Duration) string {
	if done == 0 || done >= total {
		return "0s"
	}
	return (spent / time.Duration(done) * time.Duration(total-done)).Round(time.Second).String()
}
