package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/internal/toy"
)

// FuzzSocket sends frames of any bytes. Each is answered, by a result or by a
// problem with a code, or the socket is closed; the server serves on in either
// case, tells nothing of its insides, and leaves no env behind.
func FuzzSocket(f *testing.F) {
	for _, s := range []string{
		`{"id":1,"op":"ping"}`, `{"id":"a","op":"create","type":"toy"}`, `{"id":"a","op":"create","type":"toy","env_id":"e1","count":2}`,
		`{"id":1,"op":"reset","env_id":"mine","split":"test","index":0}`, `{"id":1,"op":"step","env_id":"mine","action":"noop"}`,
		`{"id":1,"op":"step","env_id":"mine","action":{"tool_calls":[{"id":"1","function":{"name":"finish","arguments":"42"}}]}}`,
		`{"id":1,"op":"step","env_id":"mine","action":"panic"}`, `{"id":1,"op":"step","env_id":"mine","action":"error"}`, `{"id":1,"op":"step","env_id":"mine","action":"nan"}`,
		`{"id":1,"op":"score","env_id":"mine"}`, `{"id":1,"op":"close","env_id":"mine"}`, `{"id":1,"op":"attach","env_id":"mine"}`,
		`{"id":1,"op":"batch_step","items":[{"env_id":"mine","action":"noop"}]}`, `{"id":1,"op":"cancel","target":1}`, `{"id":1,"op":"subscribe"}`,
		`{"id":null,"op":"ping"}`, `{"op":"ping"}`, `{"id":1,"id":2,"op":"ping"}`, `{"id":1,"op":"fly"}`, `{"id":1e400,"op":"ping"}`, `{"id":{},"op":[]}`,
		`{"id":"` + strings.Repeat("x", 200) + `","op":"ping"}`, strings.Repeat("[", 10000), `null`, `"\ud800"`, "\xff\xfe", "", "\x00",
	} {
		f.Add([]byte(s), false)
	}
	f.Add([]byte(`{"id":1,"op":"ping"}`), true)
	w := serve(f, episode.Config{StepTimeout: 200 * time.Millisecond, MaxEnvs: 200}, server.Config{MaxBody: 1 << 16})
	const probe = `"the probe's own id"`
	dial := func(t *testing.T) *websocket.Conn {
		d := websocket.Dialer{Subprotocols: []string{"proctor.v1"}, HandshakeTimeout: 20 * time.Second}
		ws, resp, err := d.Dial("ws"+strings.TrimPrefix(w.url, "http")+"/ws?resume_grace_seconds=0", nil)
		if err != nil {
			t.Fatalf("the server takes no socket any more: %v", err)
		}
		_ = resp.Body.Close() // empty after an upgrade
		return ws
	}
	f.Fuzz(func(t *testing.T, frame []byte, binary bool) {
		if strings.Contains(string(frame), probe) || strings.Contains(string(frame), "hang") || strings.Contains(string(frame), "sleep") {
			return // frames that name the probe, and envs that are slow by design
		}
		ws := dial(t)
		defer ws.Close() // the server may have closed it
		say := func(kind int, b []byte) {
			if err := ws.WriteMessage(kind, b); err != nil {
				t.Fatal(err)
			}
		}
		kind := websocket.TextMessage
		if binary {
			kind = websocket.BinaryMessage
		}
		var hear func() (map[string]json.RawMessage, bool)
		hear = func() (map[string]json.RawMessage, bool) {
			if err := ws.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			_, b, err := ws.ReadMessage()
			if closed := new(websocket.CloseError); errors.As(err, &closed) {
				return nil, false
			}
			if err != nil {
				t.Fatalf("frame %q: neither an answer nor a close: %v", frame, err)
			}
			if strings.Contains(string(b), toy.Secret) || strings.Contains(string(b), "goroutine") {
				t.Errorf("frame %q: told %s", frame, b)
			}
			var m map[string]json.RawMessage
			if err := json.Unmarshal(b, &m); err != nil {
				t.Fatalf("frame %q: answered by %q", frame, b)
			}
			if m["event"] != nil { // a frame may have subscribed
				return hear()
			}
			return m, true
		}
		// An env of its own, in the middle of an episode; "mine" in a frame is its name.
		say(websocket.TextMessage, []byte(`{"id":`+probe+`,"op":"create","type":"toy"}`))
		made, _ := hear()
		var env struct {
			EnvID string `json:"env_id"`
		}
		if err := json.Unmarshal(made["result"], &env); err != nil || env.EnvID == "" {
			t.Fatalf("no env was made: %s", made["problem"])
		}
		say(websocket.TextMessage, []byte(`{"id":`+probe+`,"op":"reset","env_id":"`+env.EnvID+`"}`))
		if m, _ := hear(); string(m["ok"]) != "true" {
			t.Fatalf("no episode began: %s", m["problem"])
		}
		frame = bytes.ReplaceAll(frame, []byte("mine"), []byte(env.EnvID))
		say(kind, frame)
		m, open := hear()
		if !open {
			return
		}
		switch {
		case string(m["id"]) == "" || m["ok"] == nil:
			t.Errorf("frame %q: answered by %s", frame, m)
		case string(m["ok"]) != "true":
			var p struct{ Code, Title string }
			if err := json.Unmarshal(m["problem"], &p); err != nil || p.Code == "" || p.Title == "" {
				t.Errorf("frame %q: the problem %s, %v", frame, m["problem"], err)
			}
		case m["result"] == nil:
			t.Errorf("frame %q: no result in %s", frame, m)
		}
		say(websocket.TextMessage, []byte(`{"id":`+probe+`,"op":"ping"}`))
		if m, open := hear(); open && string(m["id"]) != probe {
			t.Errorf("frame %q: after its answer came %s", frame, m)
		}
	})
}
