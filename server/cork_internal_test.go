package server

import (
	"net"
	"testing"
	"time"
)

// tally is a connection that keeps what each write brought.
type tally struct {
	net.Conn
	wrote    []string
	deadline time.Time
	at       []time.Time
}

func (c *tally) Write(p []byte) (int, error) {
	c.wrote = append(c.wrote, string(p))
	c.at = append(c.at, c.deadline)
	return len(p), nil
}

func (c *tally) SetWriteDeadline(t time.Time) error {
	c.deadline = t
	return nil
}

// What is held back leaves in its order and at once, under the deadline that
// was set last; nothing is kept for good.
func TestCork(t *testing.T) {
	under := &tally{}
	c := &cork{Conn: under}
	write := func(s string, end int64) {
		t.Helper()
		if err := c.SetWriteDeadline(time.Unix(end, 0)); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	write("a", 1)
	c.hold()
	write("b", 2)
	write("c", 3)
	if len(under.wrote) != 1 {
		t.Fatalf("written while held back: %q", under.wrote)
	}
	for range 2 { // the second has nothing to write
		if err := c.release(); err != nil {
			t.Fatal(err)
		}
	}
	write("d", 4)
	if len(under.wrote) != 3 || under.wrote[1] != "bc" || under.wrote[2] != "d" || under.at[1].Unix() != 3 || under.at[2].Unix() != 4 {
		t.Errorf("wrote %q under %v", under.wrote, under.at)
	}
	c.hold()
	write(string(make([]byte, mostHeld+1)), 5)
	if err := c.release(); err != nil || c.held != nil {
		t.Errorf("%v, a buffer of %d is kept", err, cap(c.held))
	}
}
