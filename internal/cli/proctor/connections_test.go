package proctor

import (
	"errors"
	"net"
	"testing"
	"time"
)

func TestConnectionsAreBounded(t *testing.T) {
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln := bound(inner, 2)
	got := make(chan net.Conn)
	end := make(chan error, 1)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				end <- err
				return
			}
			got <- c
		}
	}()
	for range 3 {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close() // the test is over
	}
	first, second := <-got, <-got
	select {
	case <-got:
		t.Fatal("a third connection of two")
	case <-time.After(100 * time.Millisecond):
	}
	_ = first.Close()
	_ = first.Close() // gives back one place, not two
	third := <-got
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-end; !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed with %v", err)
	}
	_, _ = second.Close(), third.Close()
}

func TestFilesAreReserved(t *testing.T) {
	for most, want := range map[uint64]uint64{64: 64, 256: 64, 1024: 256, 1 << 20: 1 << 18} {
		if got := reservedFiles(most); got != want {
			t.Errorf("of %d: %d, want %d", most, got, want)
		}
	}
	if n := maxConnections(); n != 0 && n < 8 {
		t.Errorf("%d connections", n)
	}
}
