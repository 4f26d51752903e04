package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
)

// B25: pings every millisecond beside replies from many goroutines; under the
// race detector a second writer would show.
func TestPingsBesideReplies(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{PingInterval: time.Millisecond})
	c := w.dial("", nil)
	const n = 8
	var ids []string
	for range n {
		id, _ := w.env(map[string]any{"limits": map[string]any{"max_steps": 1000, "max_tool_calls": 1000}})
		ids = append(ids, id)
	}
	const each = 60
	go func() {
		for i := range each {
			for j, id := range ids {
				_ = c.ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"id":%d,"op":"step","env_id":"%s","action":"noop","step":%d}`, i*n+j, id, i))
			}
		}
	}()
	seen := map[any]bool{}
	for range n * each {
		m := c.recv()
		if m["ok"] != true || seen[m["id"]] {
			t.Fatalf("reply: %v", m)
		}
		seen[m["id"]] = true
	}
}

// B07: sockets that vanish give their envs back, also without a word.
func TestAbruptDisconnects(t *testing.T) {
	const n = 1000
	w := serve(t, episode.Config{}, server.Config{})
	addr := strings.TrimPrefix(w.url, "http://")
	var wg sync.WaitGroup
	gate := make(chan struct{}, 32)
	for i := range n {
		wg.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			ws, _, err := websocket.DefaultDialer.Dial("ws://"+addr+"/ws?resume_grace_seconds=0", nil)
			if err != nil {
				t.Error(err)
				return
			}
			nc := ws.NetConn()
			_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"id":1,"op":"create","type":"toy"}`))
			if i%2 == 0 {
				_, b, err := ws.ReadMessage()
				var m map[string]any
				if err != nil || json.Unmarshal(b, &m) != nil {
					t.Error(err, string(b))
				}
				id, _ := result(m)["env_id"].(string)
				_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"id":2,"op":"reset","env_id":"`+id+`"}`))
				_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"id":3,"op":"step","env_id":"`+id+`","action":"sleep:20"}`))
			}
			if tc, ok := nc.(*net.TCPConn); ok && i%3 == 0 {
				_ = tc.SetLinger(0) // a reset instead of a good-bye
			}
			_ = nc.Close()
		})
	}
	wg.Wait()
	eventually(t, "no live env is left", func() bool {
		w.mgr.Sweep()
		return w.mgr.Live() == 0 && w.toy.Open.Load() == 0
	})
	text := func() string { return string(w.do("GET", "/metrics", nil).raw) }
	eventually(t, "the gauges are 0", func() bool {
		m := text()
		return strings.Contains(m, `proctor_live_envs{env="toy"} 0`) && strings.Contains(m, "proctor_websocket_connections 0")
	})
}

// B07: a peer that is gone without a FIN gives no pong and is let go.
func TestHalfOpenPeer(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{PingInterval: 20 * time.Millisecond, IdleTimeout: 150 * time.Millisecond})
	c := w.dial("?resume_grace_seconds=0", nil)
	made := c.ask(`{"id":1,"op":"create","type":"toy"}`)
	if made["ok"] != true {
		t.Fatal(made)
	}
	// From here on nobody reads, so nobody answers pings.
	eventually(t, "the env of a dead peer is given back", func() bool {
		w.mgr.Sweep()
		return w.mgr.Live() == 0
	})
}

// B08: where pings are swallowed, a running step is a sign of life.
func TestStepIsASignOfLife(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{PingInterval: -1, IdleTimeout: 100 * time.Millisecond})
	c := w.dial("", nil)
	id, _ := w.env(nil)
	// The housekeeping tick is a second without pings; the step spans several.
	if r := c.ask(`{"id":1,"op":"step","env_id":"` + id + `","action":"sleep:2300"}`); r["ok"] != true {
		t.Fatalf("the socket died during a long step: %v", r)
	}
}

// A reader that stops is closed with 1013 and holds nobody up.
func TestSlowReader(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{QueueFrames: 4, WriteTimeout: 20 * time.Second})
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	d := websocket.Dialer{NetDialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if tc, ok := nc.(*net.TCPConn); ok {
			_ = tc.SetReadBuffer(64 << 10)
		}
		return nc, err
	}}
	ws, _, err := d.DialContext(ctx, "ws"+strings.TrimPrefix(w.url, "http")+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close() // the test is over
	var ids []string
	for range 40 {
		id, _ := w.env(map[string]any{"limits": map[string]any{"max_observation_bytes": 65536}})
		ids = append(ids, id)
	}
	for i := range 10 * len(ids) { // more replies than any buffer between us holds
		_ = ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"id":%d,"op":"step","env_id":"%s","action":"wide:60000"}`, i, ids[i%len(ids)]))
	}
	eventually(t, "the slow reader is noticed", func() bool {
		return strings.Contains(string(w.do("GET", "/metrics", nil).raw), "proctor_websocket_slow_readers_total 1")
	})
	for {
		_ = ws.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, _, err = ws.ReadMessage(); err != nil {
			break
		}
	}
	if !websocket.IsCloseError(err, websocket.CloseTryAgainLater) {
		t.Errorf("closed with %v, want 1013", err)
	}
}
