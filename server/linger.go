package server

import (
	"errors"
	"io"
	"net"
	"time"

	"github.com/gorilla/websocket"
)

// How long, and for how many bytes, a closed socket still listens. A connection
// that is closed while there is something to read is reset, and a reset takes
// with it what the client has not read yet: why it was closed.
const (
	lingerFor   = 2 * time.Second  // without anything to read
	lingerMost  = 20 * time.Second // in all
	lingerBytes = 256 << 20
)

// isEnding says whether the end of the connection has begun.
func (c *socket) isEnding() bool {
	select {
	case <-c.closing:
		return true
	default:
		return false
	}
}

// told says of a write's error whether the client has been told that the
// connection ends: that is why no more is written.
func told(err error) bool { return err == nil || errors.Is(err, websocket.ErrCloseSent) }

// farewell lets the reader go on until the client has answered the close or its
// time is over. What it reads is thrown away.
func (c *socket) farewell() {
	c.stop()                                            // what has not begun is not begun
	_ = c.ws.SetReadDeadline(time.Now().Add(lingerFor)) // where it fails, the connection is gone
}

// linger reads on where the reader could not, since what came broke the rules:
// until the client has heard of it, within bounds. err is how the reader ended.
func (c *socket) linger(err error) {
	var answered *websocket.CloseError
	var gone net.Error
	if errors.As(err, &answered) || errors.As(err, &gone) || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		return
	}
	if half, ok := c.cork.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // it is closed soon anyway
	}
	buf, end := make([]byte, 32<<10), time.Now().Add(lingerMost)
	for n := 0; n < lingerBytes && time.Now().Before(end); {
		if c.cork.SetReadDeadline(time.Now().Add(lingerFor)) != nil {
			return
		}
		k, err := c.cork.Read(buf)
		if n += k; err != nil {
			return // the client has closed too, or does nothing
		}
	}
}
