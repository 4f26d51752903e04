package server

import (
	"bufio"
	"net"
	"net/http"
	"sync"
	"time"
)

// cork is a connection that can hold back what is written, so that many frames
// leave in one system call: on a busy socket the calls are what a step costs.
type cork struct {
	net.Conn

	mu       sync.Mutex // also held around the writing itself
	on       bool
	held     []byte
	deadline time.Time
}

// mostHeld is the buffer that a cork keeps between uses.
const mostHeld = 256 << 10

// Write writes p, or holds it back.
func (c *cork) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.on {
		c.held = append(c.held, p...)
		return len(p), nil
	}
	return c.now(p)
}

// SetWriteDeadline is for the next write, not for one that is under way: a pong
// has another deadline than the frames before it.
func (c *cork) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return nil
}

func (c *cork) now(p []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(c.deadline); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// hold begins to hold back.
func (c *cork) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on = true
}

// release writes what is held back.
func (c *cork) release() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on = false
	if len(c.held) == 0 {
		return nil
	}
	_, err := c.now(c.held)
	c.held = c.held[:0]
	if cap(c.held) > mostHeld {
		c.held = nil
	}
	return err
}

// corked gives whoever takes over the connection a cork around it.
type corked struct {
	http.ResponseWriter
	cork *cork
}

// Hijack takes the connection over.
func (w *corked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	nc, brw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	w.cork = &cork{Conn: nc}
	return w.cork, brw, nil
}
