package server_test

import (
	"encoding/binary"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
)

// oneFrame is a text frame of n spaces in one piece, as a client masks it.
func oneFrame(n int) []byte {
	b := make([]byte, 14+n) // masked with zeros
	b[0], b[1] = 0x81, 0x80|127
	binary.BigEndian.PutUint64(b[2:], uint64(n))
	for i := range n {
		b[14+i] = ' '
	}
	return b
}

// Why a connection ends reaches a client that is still sending: closed while
// there is something to read, it would be reset and what was said be lost.
func TestACloseArrivesWhileTheClientSends(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{MaxBody: 1 << 16})
	long, short, zeros := oneFrame(8<<20), oneFrame(1<<20), make([]byte, 8<<20)
	for name, send := range map[string]func(ws *websocket.Conn) error{
		"in one frame": func(ws *websocket.Conn) error {
			_, err := ws.UnderlyingConn().Write(long)
			return err
		},
		"in fragments": func(ws *websocket.Conn) error { return ws.WriteMessage(websocket.TextMessage, zeros) },
		"and more behind it": func(ws *websocket.Conn) error {
			for range 8 {
				if _, err := ws.UnderlyingConn().Write(short); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			var all sync.WaitGroup
			for range 4 {
				c := w.dial("", nil)
				all.Go(func() {
					if err := send(c.ws); err != nil {
						t.Errorf("send: %v", err)
					}
					_ = c.ws.SetReadDeadline(time.Now().Add(20 * time.Second))
					if _, _, err := c.ws.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseMessageTooBig) {
						t.Errorf("got %v", err)
					}
				})
			}
			all.Wait()
		})
	}
}

// A server that shuts down says so to a client that sends all the time, and
// serves nothing of what comes after.
func TestAGoodbyeArrivesWhileTheClientSends(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	id, _ := w.env(nil)
	c := w.dial("", http.Header{})
	if m := c.ask(`{"id":1,"op":"step","env_id":"` + id + `","action":"noop"}`); m["ok"] != true {
		t.Fatal(m)
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for c.ws.WriteMessage(websocket.TextMessage, make([]byte, 1<<16)) == nil { // until the connection is gone
		}
	}()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		w.srv.Close()
	}()
	_ = c.ws.SetReadDeadline(time.Now().Add(20 * time.Second))
	var err error
	for err == nil {
		_, _, err = c.ws.ReadMessage()
	}
	if !websocket.IsCloseError(err, websocket.CloseGoingAway) {
		t.Errorf("got %v", err)
	}
	_ = c.ws.Close()
	<-sent
	<-closed
}
