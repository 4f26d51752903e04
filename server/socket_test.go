package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
)

// wire is a raw socket, so that the tests see what is really sent.
type wire struct {
	t  testing.TB
	ws *websocket.Conn
}

func (w *world) dial(query string, h http.Header) *wire {
	w.t.Helper()
	d := websocket.Dialer{Subprotocols: []string{"proctor.v1"}}
	ws, resp, err := d.Dial("ws"+strings.TrimPrefix(w.url, "http")+"/ws"+query, h)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = resp.Body.Close() // empty after an upgrade
	w.t.Cleanup(func() { _ = ws.Close() })
	return &wire{w.t, ws}
}

func (c *wire) send(frame string) {
	c.t.Helper()
	if err := c.ws.WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *wire) recv() map[string]any {
	c.t.Helper()
	_ = c.ws.SetReadDeadline(time.Now().Add(15 * time.Second))
	_, b, err := c.ws.ReadMessage()
	if err != nil {
		c.t.Fatal(err)
	}
	if strings.Contains(string(b), `\u003`) || strings.Contains(string(b), `\u0026`) {
		c.t.Errorf("a frame is escaped for HTML: %.300s", b)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		c.t.Fatalf("%v: %s", err, b)
	}
	return m
}

func (c *wire) ask(frame string) map[string]any {
	c.t.Helper()
	c.send(frame)
	return c.recv()
}

func result(m map[string]any) map[string]any {
	r, _ := m["result"].(map[string]any)
	return r
}

func code(m map[string]any) any {
	p, _ := m["problem"].(map[string]any)
	return p["code"]
}

func TestSocketPlays(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	c := w.dial("", nil)
	if c.ws.Subprotocol() != "proctor.v1" {
		t.Errorf("subprotocol %q", c.ws.Subprotocol())
	}
	made := c.ask(`{"id":"a","op":"create","type":"toy"}`)
	id, _ := result(made)["env_id"].(string)
	if made["id"] != "a" || made["ok"] != true || id == "" {
		t.Fatalf("create: %v", made)
	}
	r := c.ask(`{"id":1,"op":"reset","env_id":"` + id + `","seed":3}`)
	if r["id"] != 1.0 || result(r)["seed"] != 3.0 {
		t.Fatalf("reset: %v", r)
	}
	s := c.ask(`{"id":2,"op":"step","env_id":"` + id + `","action":"reward:","step":0}`)
	if result(s)["reward"] != 0.25 {
		t.Fatalf("step: %v", s)
	}
	again := c.ask(`{"id":3,"op":"step","env_id":"` + id + `","action":"reward:","step":0}`)
	if again["replayed"] != true || result(again)["return"] != 0.25 {
		t.Errorf("replayed step: %v", again)
	}
	b := c.ask(`{"id":4,"op":"batch_step","items":[{"env_id":"` + id + `","action":"noop","step":1}]}`)
	if b["ok"] != true || !strings.Contains(fmt.Sprint(b), "ok 2") {
		t.Errorf("batch_step: %v", b)
	}
	sc := c.ask(`{"id":5,"op":"score","env_id":"` + id + `"}`)
	if result(sc)["status"] != "truncated" || result(sc)["stop_reason"] != "client" {
		t.Errorf("score: %v", sc)
	}
	if p := c.ask(`{"id":6,"op":"ping"}`); p["ok"] != true {
		t.Errorf("ping: %v", p)
	}
	if p := c.ask(`{"id":7,"op":"close","env_id":"` + id + `"}`); p["ok"] != true || w.mgr.Live() != 0 {
		t.Errorf("close: %v", p)
	}
}

func TestSocketRefusals(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{MaxBody: 1 << 20})
	c := w.dial("", nil)
	for _, tt := range []struct{ frame, code string }{
		{`{`, "invalid-json"},
		{`[]`, "invalid-json"},
		{`{"id":1,"op":"ping","x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, "invalid-json"},
		{`{"op":"ping"}`, "invalid-field"},
		{`{"id":1.5,"op":"ping"}`, "invalid-field"},
		{`{"id":"","op":"ping"}`, "invalid-field"},
		{`{"id":null,"op":"ping"}`, "invalid-field"},
		{`{"id":1}`, "invalid-field"},
		{`{"id":1,"op":"explode"}`, "invalid-field"},
		{`{"id":1,"id":2,"op":"ping"}`, "invalid-field"},
		{`{"id":1,"op":"close","op":"ping"}`, "invalid-field"},
		{`{"id":1,"op":"cancel","target":1,"target":2}`, "invalid-field"},
		{`{"id":1,"op":"ping","extra":1}`, "unknown-field"},
		{`{"id":1,"op":"create","type":"toy","cpu":1}`, "unknown-field"},
		{`{"id":1,"op":"create","type":"nope"}`, "env-type-not-found"},
		{`{"id":1,"op":"create","type":"toy","count":-1}`, "invalid-field"},
		{`{"id":1,"op":"create","type":"toy","limits":{"max_steps":2.5}}`, "invalid-field"},
		{`{"id":1,"op":"reset"}`, "invalid-field"},
		{`{"id":1,"op":"reset","env_id":7}`, "invalid-field"},
		{`{"id":1,"op":"step","env_id":"x"}`, "invalid-field"},
		{`{"id":1,"op":"step","env_id":"x","action":"a"}`, "env-not-found"},
		{`{"id":1,"op":"step","env_id":"x","action":"a","reward":1}`, "unknown-field"},
		{`{"id":1,"op":"attach","env_id":"x"}`, "env-not-found"},
		{`{"id":1,"op":"cancel"}`, "invalid-field"},
		{`{"id":1,"op":"batch_step","items":[]}`, "invalid-field"},
	} {
		r := c.ask(tt.frame)
		if r["ok"] != false || code(r) != tt.code {
			t.Errorf("%.60s: got %v, want %s", tt.frame, r, tt.code)
		}
	}
	if r := c.ask("{\"id\":1,\"op\":\"step\",\"env_id\":\"x\",\"action\":\"\xff\"}"); code(r) != "invalid-json" {
		t.Errorf("invalid UTF-8: %v", r)
	}
	// No handshake, a foreign page, and a frame beyond the limit.
	wantProblem(t, w.do("GET", "/ws", nil), 422, "invalid-field")
	wantProblem(t, w.do("GET", "/ws?resume_grace_seconds=-1", nil), 422, "invalid-field")
	_, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(w.url, "http")+"/ws", http.Header{"Origin": {"https://evil.example"}})
	if err == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("a foreign origin got in: %v", err)
	}
	_ = c.ws.WriteMessage(websocket.TextMessage, []byte(`{"id":1,"op":"ping","x":"`+strings.Repeat("a", 1<<20)+`"}`))
	if _, _, err := c.ws.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseMessageTooBig) {
		t.Errorf("an oversize frame: %v", err)
	}
}

// A long step holds up neither other envs nor pings; one env's replies keep
// their order; a frame that waits can be taken back.
func TestSocketOrder(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	c := w.dial("", nil)
	a, _ := w.env(nil)
	b, _ := w.env(nil)
	pong := make(chan struct{}, 1)
	c.ws.SetPongHandler(func(string) error {
		select {
		case pong <- struct{}{}:
		default:
		}
		return nil
	})
	c.send(`{"id":1,"op":"step","env_id":"` + a + `","action":"sleep:400"}`)
	c.send(`{"id":2,"op":"step","env_id":"` + a + `","action":"noop"}`)
	c.send(`{"id":3,"op":"step","env_id":"` + a + `","action":"noop"}`)
	c.send(`{"id":4,"op":"step","env_id":"` + a + `","action":"noop"}`)
	c.send(`{"id":5,"op":"step","env_id":"` + b + `","action":"noop"}`)
	c.send(`{"id":6,"op":"cancel","target":4}`)
	if err := c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	var order []float64
	for range 6 {
		m := c.recv()
		id, _ := m["id"].(float64)
		order = append(order, id)
		if id == 1 {
			select {
			case <-pong:
			default:
				t.Error("no pong while a step runs")
			}
		}
		if id == 4 && m["ok"] != false {
			t.Errorf("the cancelled frame ran: %v", m)
		}
	}
	at := func(id float64) int {
		for i, v := range order {
			if v == id {
				return i
			}
		}
		return -1
	}
	if at(5) > at(1) || at(4) > at(1) || at(1) > at(2) || at(2) > at(3) {
		t.Errorf("order of replies: %v", order)
	}
	if r := result(c.ask(`{"id":7,"op":"step","env_id":"` + a + `","action":"noop"}`)); r["step"] != 3.0 {
		t.Errorf("after three steps: %v", r)
	}
}

// Envs outlive their socket for its grace, and attach takes them up again.
func TestAttach(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	c := w.dial("?resume_grace_seconds=60", nil)
	id, _ := result(c.ask(`{"id":1,"op":"create","type":"toy"}`))["env_id"].(string)
	c.ask(`{"id":2,"op":"reset","env_id":"` + id + `"}`)
	first := c.ask(`{"id":3,"op":"step","env_id":"` + id + `","action":"reward:","step":0}`)
	_ = c.ws.Close()
	c = w.dial("?resume_grace_seconds=0", nil)
	if r := c.ask(`{"id":1,"op":"attach","env_id":"` + id + `"}`); r["ok"] != true || result(r)["step"] != 1.0 {
		t.Fatalf("attach: %v", r)
	}
	// The reply may have been lost with the socket; the index makes it safe to ask again.
	again := c.ask(`{"id":2,"op":"step","env_id":"` + id + `","action":"reward:","step":0}`)
	if again["replayed"] != true || fmt.Sprint(again["result"]) != fmt.Sprint(first["result"]) {
		t.Errorf("after attach: %v", again)
	}
	_ = c.ws.Close()
	eventually(t, "the env ends with its second socket", func() bool {
		w.mgr.Sweep()
		return w.mgr.Live() == 0
	})
}

// The frames that docs/contract.md shows play an episode as they stand there.
func TestFramesOfTheDocument(t *testing.T) {
	page, err := os.ReadFile("../docs/contract.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```json\n")
	frames, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/contract.md shows no frames")
	}
	c := serve(t, episode.Config{}, server.Config{}).dial("", nil)
	var done any
	for i, f := range strings.Split(strings.TrimSpace(frames), "\n") {
		r := c.ask(strings.Replace(f, "react-mini", "toy", 1))
		if r["ok"] != true || r["id"] != float64(i+1) {
			t.Errorf("%s: %v", f, r)
		}
		if v, has := result(r)["done"]; has {
			done = v
		}
	}
	if done != true {
		t.Error("the episode is not over")
	}
}
