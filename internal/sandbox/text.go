package sandbox

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable makes text of an untrusted process safe to show: valid UTF-8,
// control and formatting characters escaped (newline and tab kept), at most
// max bytes with a mark where it was cut.
func printable(s string, max int) string {
	if len(s) > 4*max {
		s = s[:4*max]
	}
	var b strings.Builder
	for i, r := range s {
		if b.Len() >= max {
			b.WriteString("…")
			break
		}
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == '\r' && strings.HasPrefix(s[i:], "\r\n"):
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp):
			if r < 0x100 {
				fmt.Fprintf(&b, `\x%02x`, r)
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// headTail keeps the beginning and the end of a stream and counts the rest.
type headTail struct {
	head, tail []byte
	half       int
	total      int64
}

func newHeadTail(max int) *headTail { return &headTail{half: max / 2} }

func (h *headTail) Write(p []byte) (int, error) {
	n := len(p)
	h.total += int64(n)
	if room := h.half - len(h.head); room > 0 {
		k := min(room, len(p))
		h.head = append(h.head, p[:k]...)
		p = p[k:]
	}
	h.tail = append(h.tail, p...)
	if len(h.tail) > 2*h.half {
		h.tail = append(h.tail[:0], h.tail[len(h.tail)-h.half:]...)
	}
	return n, nil
}

// text returns what was kept, printable, and the number of bytes left out.
func (h *headTail) text() (string, int) {
	t := h.tail
	if len(t) > h.half {
		t = t[len(t)-h.half:]
	}
	left := int(h.total) - len(h.head) - len(t)
	limit := 8 * (h.half + 1)
	if left == 0 {
		return printable(string(h.head)+string(t), limit), 0
	}
	return printable(string(h.head), limit) + fmt.Sprintf("\n[... %d bytes left out ...]\n", left) + printable(string(t), limit), left
}

var (
	address  = regexp.MustCompile(`\b0x[0-9a-f]{6,16}\b`)
	duration = regexp.MustCompile(`(?m) in [0-9]+\.[0-9]+s( \([0-9:]+\))?( =+)$`)
	library  = regexp.MustCompile(`(/[A-Za-z0-9._+-]+)*/lib/python3(\.[0-9]+)?/`)
	lead     = "/home/w/"
)

// steady takes out of pytest's text what differs from run to run, so that
// equal workspaces give equal observations: addresses, durations, and the
// places of the workspace and of the interpreter.
func steady(s string) string {
	s = duration.ReplaceAllString(s, "$2")
	s = address.ReplaceAllString(s, "0x..")
	s = library.ReplaceAllString(s, "python/")
	return strings.ReplaceAll(s, lead, "")
}
