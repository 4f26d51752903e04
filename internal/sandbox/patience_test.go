//go:build linux

package sandbox

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A server that gets no processor when the time is over must not take its own
// lateness for the child's: an answer that lies ready is read, a question that
// is due is asked, and that goes on once only beyond the end of the whole time.
func TestLatenessOfOursIsNoFault(t *testing.T) {
	ours, theirs, err := socketPair(unix.SOCK_STREAM, "late")
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	file, err := net.FileConn(theirs)
	if err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	defer file.Close()
	c := &child{job: ours, pidfd: -1}
	past := func(end time.Duration) {
		c.patience = patience{asleep: time.Second, end: time.Now().Add(end)}
		if err := ours.SetDeadline(time.Now().Add(-time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	b := make([]byte, 8)
	for _, end := range []time.Duration{time.Minute, -time.Second} {
		past(end)
		if _, err := file.Write([]byte("answer")); err != nil {
			t.Fatal(err)
		}
		if n, err := (patient{c}).Read(b); string(b[:n]) != "answer" || err != nil {
			t.Errorf("end in %v: read %q, %v", end, b[:n], err)
		}
		past(end)
		if _, err := (patient{c}).Write([]byte("question")); err != nil {
			t.Errorf("end in %v: written: %v", end, err)
		}
		if n, err := file.Read(b); string(b[:n]) != "question" || err != nil {
			t.Errorf("end in %v: asked %q, %v", end, b[:n], err)
		}
		past(end)
		if n, err := (patient{c}).Read(b); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("end in %v: nothing to read, and got %q, %v", end, b[:n], err)
		}
	}
	// After the end the moment is given once.
	begin := time.Now()
	for time.Since(begin) < 2*time.Second {
		if _, err := file.Write([]byte(".")); err != nil {
			t.Fatal(err)
		}
		if _, err := (patient{c}).Read(b); err != nil {
			return
		}
	}
	t.Error("a child that drips has no end")
}
