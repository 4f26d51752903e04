package server_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/client"
	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
)

// event takes the next frame, which must be an event that fits the contract.
func (c *wire) event() map[string]any {
	c.t.Helper()
	m := c.recv()
	doc, err := loadDoc()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := doc.Components.Schemas["WsEvent"].Value.VisitJSON(m); err != nil {
		c.t.Fatalf("the event does not fit the contract: %v: %v", m, err)
	}
	return m
}

func (c *wire) subscribe(id int, fields string) map[string]any {
	c.t.Helper()
	r := c.ask(fmt.Sprintf(`{"id":%d,"op":"subscribe"%s}`, id, fields))
	if r["ok"] != true || r["id"] != float64(id) {
		c.t.Fatalf("subscribe %s: %v", fields, r)
	}
	return result(r)
}

// what says in short what an event tells.
func what(m map[string]any) string {
	switch m["event"] {
	case "episode":
		e, _ := m["episode"].(map[string]any)
		return fmt.Sprint(e["env_id"], " ", e["status"], " ", e["steps"])
	case "step":
		s, _ := m["step"].(map[string]any)
		return fmt.Sprint(m["env_id"], " step ", s["step"])
	}
	return fmt.Sprint(m["event"], m["run_id"])
}

func TestSubscribe(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	c := w.dial("", nil)
	before := c.subscribe(1, `,"events":["episode","step"]`)
	w.do("POST", "/envs", map[string]any{"type": "toy", "id": "a"})
	w.do("POST", "/envs/a/reset", nil)
	w.step("a", "noop")
	w.step("a", "finish[42]")
	w.do("POST", "/envs/a/reset", map[string]any{"seed": 9})
	w.do("POST", "/envs/a/reset", map[string]any{"seed": -666}) // breaks
	w.do("POST", "/envs/a/reset", nil)
	w.step("a", "panic")
	w.do("POST", "/envs/a/reset", nil)
	w.do("DELETE", "/envs/a", nil)
	last := before["seq"]
	for _, want := range []string{
		"a running 0", "a step 0", "a step 1", "a terminated 2", // played
		"a running 0", "a closed 0", // drawn again
		"a failed 0",                            // broken at its reset: it never ran
		"a running 0", "a step 0", "a failed 1", // broken at a step
		"a running 0", "a closed 0", // ended
	} {
		m := c.event()
		if got := what(m); got != want {
			t.Fatalf("got %q, want %q: %v", got, want, m)
		}
		if seq, _ := m["seq"].(float64); m["subscription"] != 1.0 || seq <= last.(float64) { // checked by the contract
			t.Errorf("subscription or order: %v after %v", m, last)
		}
		last = m["seq"]
	}
}

// What an event tells can be read at once: the list and the steps are never
// behind the stream.
func TestEventsAreReadable(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	c := w.dial("", nil)
	c.subscribe(1, "")
	go func() {
		for i := range 30 {
			path := fmt.Sprintf("%s/envs/e%d", w.url, i)
			for _, p := range []struct{ url, body string }{
				{w.url + "/envs", fmt.Sprintf(`{"type":"toy","id":"e%d"}`, i)},
				{path + "/reset", ""},
				{path + "/step", `{"action":"finish[42]"}`},
			} {
				resp, err := http.Post(p.url, "application/json", strings.NewReader(p.body)) //nolint:noctx // bounded by the test
				if err != nil {
					t.Error(err)
					return
				}
				_ = resp.Body.Close()
			}
		}
	}()
	for range 60 {
		m := c.event()
		e, _ := m["episode"].(map[string]any)
		l := w.do("GET", "/episodes?limit=200", nil)
		rows, _ := l.m["episodes"].([]any)
		found := ""
		for _, r := range rows {
			if row, _ := r.(map[string]any); row["episode_id"] == e["episode_id"] {
				found, _ = row["status"].(string)
			}
		}
		if found == "" || e["status"] == "terminated" && found != "terminated" {
			t.Fatalf("told of %v, but the list has it as %q", what(m), found)
		}
	}
}

func TestSubscribeFilters(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	c := w.dial("", nil)
	c.subscribe(1, `,"events":["episode"],"task_id":"train-3"`)
	c.subscribe(2, `,"events":["step"],"env_id":"b"`)
	c.subscribe(3, `,"events":["episode"],"group_id":"g"`)
	c.subscribe(4, `,"events":["episode"],"type":"other"`)
	c.subscribe(5, `,"events":["run","points"]`)
	for _, id := range []string{"a", "b"} {
		w.do("POST", "/envs", map[string]any{"type": "toy", "id": id})
	}
	w.do("POST", "/envs/a/reset", map[string]any{"task_id": "train-3"})
	w.do("POST", "/envs/b/reset", map[string]any{"task_id": "train-4", "group_id": "g"})
	w.step("a", "noop")
	w.step("b", "noop")
	run := w.do("POST", "/runs", map[string]any{"name": "r"}).str("run_id")
	w.do("POST", "/runs/"+run+"/points", map[string]any{"points": []any{map[string]any{"update": 1, "wall_seconds": 2.5, "values": map[string]any{"x": 0.5}}}})
	got := map[string]bool{}
	for range 5 {
		m := c.event()
		got[fmt.Sprint(m["subscription"], " ", what(m))] = true
	}
	for _, want := range []string{"1 a running 0", "2 b step 0", "3 b running 0", "5 run" + "<nil>", "5 points" + run} {
		if !got[want] {
			t.Errorf("no event %q in %v", want, got)
		}
	}
	if r := c.ask(`{"id":6,"op":"cancel","target":2}`); result(r)["cancelled"] != true {
		t.Errorf("cancel: %v", r)
	}
	if r := c.ask(`{"id":7,"op":"cancel","target":2}`); result(r)["cancelled"] != false {
		t.Errorf("cancel again: %v", r)
	}
	c.send(`{"id":"\u0061/","op":"subscribe"}`) // the same name, spelt in two ways
	if r := c.recv(); r["id"] != "a/" {
		t.Errorf("subscribe: %v", r)
	}
	if r := c.ask(`{"id":8,"op":"cancel","target":"a\/"}`); result(r)["cancelled"] != true {
		t.Errorf("cancel by another spelling: %v", r)
	}
	w.step("b", "noop")
	c.subscribe(2, `,"events":["step"],"env_id":"b"`) // the name is free again
	w.step("b", "noop")
	if m := c.event(); what(m) != "b step 2" {
		t.Errorf("after a cancel: %v", m)
	}
}

func TestSubscribeRefusals(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	c := w.dial("", nil)
	c.subscribe(1, "")
	for _, tt := range []struct{ fields, code string }{
		{`,"events":[]`, "invalid-field"},
		{`,"events":["reward"]`, "invalid-field"},
		{`,"events":"step"`, "invalid-field"},
		{`,"after":3`, "invalid-field"},
		{`,"after":-1,"stream":"x"`, "invalid-field"},
		{`,"after":1.5,"stream":"x"`, "invalid-field"},
		{`,"seed":1`, "unknown-field"},
		{``, "invalid-field"}, // the id is taken
	} {
		if r := c.ask(`{"id":1,"op":"subscribe"` + tt.fields + `}`); code(r) != tt.code {
			t.Errorf("%s: %v, want %s", tt.fields, r, tt.code)
		}
	}
	for i := 2; i <= 32; i++ {
		c.subscribe(i, "")
	}
	if r := c.ask(`{"id":33,"op":"subscribe"}`); code(r) != "rate-limited" {
		t.Errorf("one subscription too many: %v", r)
	}
}

// A reader whose socket broke goes on where it stopped, or is told that it
// cannot.
func TestSubscribeResumes(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{EventsKept: 20})
	id, _ := w.env(nil)
	c := w.dial("", nil)
	at := c.subscribe(1, `,"events":["step"]`)
	w.step(id, "noop")
	w.step(id, "noop")
	first := c.event()
	_ = c.ws.Close()
	for range 5 {
		w.step(id, "noop")
	}
	c = w.dial("", nil)
	resume := func(n int, stream string, after any) map[string]any {
		return c.subscribe(n, fmt.Sprintf(`,"events":["step"],"stream":%q,"after":%v`, stream, after))
	}
	stream, _ := at["stream"].(string)
	if r := resume(1, stream, first["seq"]); r["gap"] != false || r["seq"] != first["seq"] {
		t.Fatalf("resumed: %v", r)
	}
	for i := 1; i < 7; i++ {
		if m := c.event(); what(m) != fmt.Sprint(id, " step ", i) {
			t.Fatalf("event %d after the resumption: %v", i, m)
		}
	}
	c.ask(`{"id":9,"op":"cancel","target":1}`)
	for range 25 {
		w.step(id, "noop")
	}
	for n, r := range []map[string]any{resume(2, stream, first["seq"]), resume(3, "another", 1), resume(4, stream, 1_000_000)} {
		if r["gap"] != true || r["seq"] != 32.0 {
			t.Errorf("resumption %d beyond what is kept: %v", n, r)
		}
	}
}

// A subscriber who never reads holds up neither the steps nor another
// subscriber, and is closed with 1013.
func TestSlowSubscriber(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{QueueFrames: 4, WriteTimeout: time.Minute})
	d := websocket.Dialer{NetDialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if tc, ok := nc.(*net.TCPConn); ok {
			_ = tc.SetReadBuffer(64 << 10)
		}
		return nc, err
	}}
	slow, resp, err := d.Dial("ws"+strings.TrimPrefix(w.url, "http")+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close() // empty after an upgrade
	defer slow.Close()    // the test is over
	if err := slow.WriteMessage(websocket.TextMessage, []byte(`{"id":1,"op":"subscribe","events":["step"]}`)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := slow.ReadMessage(); err != nil {
		t.Fatal(err)
	}
	good := w.dial("", nil)
	good.subscribe(1, `,"events":["step"]`)
	const n = 140
	id, _ := w.env(map[string]any{"limits": map[string]any{"max_steps": 1000, "max_tool_calls": 1000, "max_observation_bytes": 65536}})
	go func() {
		for range n { // more than any buffer between us and the slow one holds
			w.step(id, "wide:60000")
		}
	}()
	for i := range n {
		m := good.recv()
		if what(m) != fmt.Sprint(id, " step ", i) {
			t.Fatalf("event %d: %v", i, what(m))
		}
	}
	eventually(t, "the slow subscriber is noticed", func() bool {
		return strings.Contains(string(w.do("GET", "/metrics", nil).raw), "proctor_websocket_slow_readers_total 1")
	})
	for err = nil; err == nil; {
		_ = slow.SetReadDeadline(time.Now().Add(10 * time.Second))
		_, _, err = slow.ReadMessage()
	}
	if !websocket.IsCloseError(err, websocket.CloseTryAgainLater) {
		t.Errorf("closed with %v, want 1013", err)
	}
}

// A subscriber that falls behind all that is kept has lost events, and does
// not go on as if it had not.
func TestSubscriberBehindTheRing(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{EventsKept: 2, QueueFrames: 1, WriteTimeout: time.Minute})
	id, _ := w.env(map[string]any{"limits": map[string]any{"max_steps": 1000, "max_tool_calls": 1000, "max_observation_bytes": 65536}})
	c := w.dial("", nil)
	c.subscribe(1, `,"events":["step"]`)
	for range 110 {
		w.step(id, "wide:60000")
	}
	next := 0.0
	for {
		_ = c.ws.SetReadDeadline(time.Now().Add(10 * time.Second))
		_, b, err := c.ws.ReadMessage()
		if err != nil {
			if !websocket.IsCloseError(err, websocket.CloseTryAgainLater) {
				t.Errorf("closed with %v, want 1013", err)
			}
			return
		}
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		st, _ := m["step"].(map[string]any)
		if st["step"] != next {
			t.Fatalf("got step %v where %v was next", st["step"], next)
		}
		next++
	}
}

// An owner is told of its own episodes only; a page proves who it is by a
// subprotocol.
func TestSubscribersSeeTheirOwn(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{Tokens: []server.Token{
		{Owner: "ann", Scope: server.ScopeRollout, Hash: server.HashToken("a")},
		{Owner: "bob", Scope: server.ScopeRollout, Hash: server.HashToken("b")},
		{Owner: "op", Scope: server.ScopeOperator, Hash: server.HashToken("o")},
	}})
	dial := func(token string) *wire {
		d := websocket.Dialer{Subprotocols: []string{"proctor.v1", "bearer." + base64.RawURLEncoding.EncodeToString([]byte(token))}}
		ws, resp, err := d.Dial("ws"+strings.TrimPrefix(w.url, "http")+"/ws", nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close() // empty after an upgrade
		t.Cleanup(func() { _ = ws.Close() })
		if ws.Subprotocol() != "proctor.v1" {
			t.Errorf("subprotocol %q", ws.Subprotocol())
		}
		return &wire{t, ws}
	}
	ann, op := dial("a"), dial("o")
	ann.subscribe(1, `,"events":["episode","run","points"]`)
	op.subscribe(1, `,"events":["episode","run","points"]`)
	for _, who := range []string{"b", "a"} {
		auth := []string{"Authorization", "Bearer " + who}
		w.do("POST", "/envs", map[string]any{"type": "toy", "id": "of-" + who}, auth...)
		w.do("POST", "/envs/of-"+who+"/reset", nil, auth...)
		w.do("POST", "/runs", map[string]any{"name": "x"}, auth...)
	}
	for _, want := range []string{"of-b running 0", "run<nil>", "of-a running 0", "run<nil>"} {
		if m := op.event(); what(m) != want {
			t.Errorf("the operator got %v, want %s", m, want)
		}
	}
	for _, want := range []string{"of-a running 0", "run<nil>"} {
		if m := ann.event(); what(m) != want {
			t.Errorf("ann got %v, want %s", m, want)
		}
	}
	// The subprotocol is a credential of the socket alone.
	wantProblem(t, w.do("GET", "/envs", nil, "Sec-WebSocket-Protocol", "bearer.YQ"), 401, "unauthenticated")
	wantProblem(t, w.do("GET", "/ws", nil, "Sec-WebSocket-Protocol", "proctor.v1, bearer.!"), 401, "unauthenticated")
}

// At the end a subscriber is told so, and gets what came before it.
func TestDrainIsTold(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	c := w.dial("", nil)
	c.subscribe(1, "")
	w.env(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.mgr.Drain(t.Context())
	}()
	var told []string
	for range 3 {
		told = append(told, strings.SplitN(what(c.event()), " ", 2)[0])
	}
	if told[1] != "draining<nil>" && told[2] != "draining<nil>" {
		t.Errorf("told of %v", told)
	}
	<-done
	w.srv.Close()
	if _, _, err := c.ws.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseGoingAway) {
		t.Errorf("closed with %v, want 1001", err)
	}
}

// The end of the sockets does not overtake the events before it.
func TestEveryLastEventIsSent(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	c := w.dial("", nil)
	c.subscribe(1, "")
	const n = 300
	for range n {
		w.env(nil)
	}
	w.mgr.Drain(t.Context())
	w.srv.Close()
	began, ended, draining := 0, 0, 0
	for {
		_, b, err := c.ws.ReadMessage()
		if err != nil {
			if !websocket.IsCloseError(err, websocket.CloseGoingAway) {
				t.Errorf("closed with %v, want 1001", err)
			}
			break
		}
		switch text := string(b); {
		case strings.Contains(text, `"event":"draining"`):
			draining++
		case strings.Contains(text, `"status":"closed"`):
			ended++
		case strings.Contains(text, `"status":"running"`):
			began++
		}
	}
	if began != n || ended != n || draining != 1 {
		t.Errorf("told of %d beginnings, %d ends and %d drains of %d episodes", began, ended, draining, n)
	}
}

// The Go client goes on where its socket broke.
func TestClientSubscribes(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	id, _ := w.env(nil)
	events := make(chan api.WsEvent, 100)
	told := func(e api.WsEvent) { events <- e }
	dial := func() *client.Conn {
		c, err := client.Dial(t.Context(), w.url, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	c := dial()
	req := api.WsSubscribe{Events: []api.WsEventKind{api.WsEventKindStep}, EnvID: id}
	res, _, err := c.Subscribe(t.Context(), req, told)
	if err != nil {
		t.Fatal(err)
	}
	w.step(id, "noop")
	seq := (<-events).Seq
	_ = c.Close()
	<-c.Done()
	w.step(id, "noop")
	c = dial()
	req.Stream, req.After = res.Stream, &seq
	res, cancel, err := c.Subscribe(t.Context(), req, told)
	if err != nil || res.Gap {
		t.Fatal(res, err)
	}
	if e := <-events; e.Step == nil || e.Step.Step != 1 {
		t.Errorf("after the resumption: %+v", e)
	}
	if err := cancel(t.Context()); err != nil {
		t.Error(err)
	}
	w.step(id, "noop")
	if err := c.Ping(t.Context()); err != nil || len(events) != 0 {
		t.Errorf("after cancel: %d events, %v", len(events), err)
	}
	if _, _, err := c.Subscribe(t.Context(), api.WsSubscribe{Events: []api.WsEventKind{"x"}}, told); client.CodeOf(err) != api.ProblemCodeInvalidField {
		t.Errorf("a bad subscription: %v", err)
	}
}
