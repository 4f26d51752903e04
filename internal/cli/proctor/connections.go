package proctor

import (
	"net"
	"sync"
)

// reservedFiles are kept free of connections: the store and the sandbox need
// files as well, and clients that only hold connections open must not be what
// keeps a step of somebody else from being graded.
func reservedFiles(most uint64) uint64 { return max(64, most/4) }

// bounded accepts no more connections than places; whoever comes then waits in
// the system's queue until one ends.
type bounded struct {
	net.Listener
	places chan struct{}
	done   chan struct{}
	once   sync.Once
}

func bound(ln net.Listener, n int) net.Listener {
	if n <= 0 {
		return ln
	}
	return &bounded{Listener: ln, places: make(chan struct{}, n), done: make(chan struct{})}
}

// Accept waits for a place, then for a connection.
func (b *bounded) Accept() (net.Conn, error) {
	select {
	case b.places <- struct{}{}:
	case <-b.done:
		return nil, net.ErrClosed
	}
	c, err := b.Listener.Accept()
	if err != nil {
		<-b.places
		return nil, err
	}
	return &placed{Conn: c, leave: sync.OnceFunc(func() { <-b.places })}, nil
}

// Close stops accepting.
func (b *bounded) Close() error {
	b.once.Do(func() { close(b.done) })
	return b.Listener.Close()
}

// placed is a connection that has a place.
type placed struct {
	net.Conn
	leave func()
}

// Close gives the place back.
func (p *placed) Close() error {
	defer p.leave()
	return p.Conn.Close()
}
