package server_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
)

// One owner's large bodies take an allowance and not all the memory there is;
// nobody else feels it, and what is done or broken off gives it back.
func TestLargeBodiesHaveAnAllowance(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{MaxBody: 2 << 20, LargeBytes: 1 << 20, Tokens: []server.Token{
		{Owner: "a", Scope: server.ScopeRollout, Hash: server.HashToken("a")},
		{Owner: "b", Scope: server.ScopeRollout, Hash: server.HashToken("b")},
	}})
	large := `{"type":"toy","labels":{"a":"b"}}` + strings.Repeat(" ", 600<<10)
	create := func(who, body string) reply { return w.do("POST", "/envs", body, "Authorization", "Bearer "+who) }
	// A body that does not end holds its bytes from when the server has read
	// them. One that is asked about too early may be refused for the other.
	var half net.Conn
	wait := 50 * time.Millisecond
	eventually(t, "the allowance is used up", func() bool {
		half = w.raw(t, fmt.Sprintf("POST /envs HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(large)+1, large))
		time.Sleep(wait)
		wait *= 2
		if create("a", large).status == http.StatusTooManyRequests {
			return true
		}
		_ = half.Close()
		return false
	})
	r := create("a", large)
	wantProblem(t, r, 429, "rate-limited")
	if r.m["retryable"] != true || r.header.Get("Retry-After") == "" {
		t.Errorf("no hint to try again: %s", r.raw)
	}
	if r := create("a", `{"type":"toy"}`); r.status != 201 {
		t.Errorf("a small body: %s", r.raw)
	}
	if r := create("b", large); r.status != 201 {
		t.Errorf("another owner: %s", r.raw)
	}
	_ = half.Close()
	eventually(t, "the allowance is back", func() bool { return create("a", large).status == http.StatusCreated })
}

// The same for frames that wait for their env.
func TestLargeFramesHaveAnAllowance(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{LargeBytes: 2 << 20})
	c := w.dial("", nil)
	id, _ := w.env(nil)
	send := func(n int, action string) {
		if err := c.ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"id":%d,"op":"step","env_id":"%s","action":"%s"}`, n, id, action)); err != nil {
			t.Fatal(err)
		}
	}
	// The frames have to come while the first is under way, which on a busy
	// machine takes longer than it sleeps at first.
	for nap := 500; ; nap *= 2 {
		send(0, fmt.Sprintf("sleep:%d", nap))
		for i := range 8 {
			send(i+1, "noop:"+strings.Repeat("x", 600<<10))
		}
		got := map[string]int{}
		for range 9 {
			m := c.recv()
			if m["ok"] == true {
				got["ok"]++
				continue
			}
			got[m["problem"].(map[string]any)["code"].(string)]++
		}
		if got["ok"] < 2 || got["ok"]+got["rate-limited"] != 9 || got["rate-limited"] < 4 && nap > 8000 {
			t.Fatalf("replies after %d ms: %v", nap, got)
		}
		if got["rate-limited"] >= 4 {
			break
		}
	}
	send(20, "noop:"+strings.Repeat("x", 900<<10))
	if m := c.recv(); m["ok"] != true {
		t.Errorf("after all is done: %v", m)
	}
}

// What a client leaves unread is bounded in bytes, not only in frames.
func TestUnreadBytesAreBounded(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{QueueFrames: 1 << 20})
	c := w.dial("", nil)
	for i := range 16 {
		if m := c.ask(fmt.Sprintf(`{"id":%d,"op":"subscribe","events":["step"]}`, i)); m["ok"] != true {
			t.Fatal(m)
		}
	}
	id, _ := w.env(nil)
	for range 6 {
		w.step(id, "noop:"+strings.Repeat("x", 1<<20)) // 16 MiB of events each
	}
	eventually(t, "the slow reader is noticed", func() bool {
		return strings.Contains(string(w.do("GET", "/metrics", nil).raw), "proctor_websocket_slow_readers_total 1")
	})
}
