package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/store"
)

// A name that a stranger points at this machine makes his page one of the same
// origin, so without tokens only names that nobody can point are answered.
func TestStrangeNamesAreRefusedWithoutTokens(t *testing.T) {
	ask := func(w *world, host string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/envs", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		req.Header.Set("Authorization", "Bearer secret")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close() // only the status counts
		return resp.StatusCode
	}
	open := serve(t, episode.Config{}, server.Config{})
	for host, want := range map[string]int{
		"127.0.0.1:8080": 200, "[::1]:8080": 200, "::1": 200, "localhost": 200, "LOCALHOST.:1": 200, "a.localhost:80": 200, "10.1.2.3": 200,
		"evil.example": 403, "evil.example:8080": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example:80": 403, "notlocalhost": 403,
	} {
		if got := ask(open, host); got != want {
			t.Errorf("host %q: %d, want %d", host, got, want)
		}
	}
	guarded := serve(t, episode.Config{}, server.Config{Tokens: []server.Token{{Owner: "a", Scope: server.ScopeRollout, Hash: server.HashToken("secret")}}})
	if got := ask(guarded, "proctor.example"); got != 200 {
		t.Errorf("with a token: %d", got)
	}
}

func (w *world) raw(t *testing.T, request string) net.Conn {
	t.Helper()
	nc, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	if _, err := io.WriteString(nc, request); err != nil {
		t.Fatal(err)
	}
	_ = nc.SetReadDeadline(time.Now().Add(20 * time.Second))
	return nc
}

// Who does not read his reply is let go, and does not get its end.
func TestStalledReaderIsLetGo(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{StallTimeout: 200 * time.Millisecond})
	for i := range 32 {
		w.store.Ended(store.Record{Owner: "local", Episode: api.Episode{EpisodeID: fmt.Sprint("ep", i), Status: api.StatusTerminated}, Reset: api.Observation{
			Text: strings.Repeat("a", 1<<20), Messages: []api.Message{}, Data: []byte("null"),
		}})
	}
	nc := w.raw(t, "GET /episodes/export HTTP/1.1\r\nHost: localhost\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() // cut off
	<-time.After(1500 * time.Millisecond)
	if n, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Errorf("read %d bytes, all of a reply that should have been given up", n)
	}
}

// The time of one reply is not that of the next on its connection.
func TestStallTimeIsOfOneReply(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{StallTimeout: 50 * time.Millisecond})
	id, _ := w.env(nil)
	nc := w.raw(t, "")
	r := bufio.NewReader(nc)
	for _, body := range []string{`{"action":"sleep:200"}`, `{"action":"noop"}`} {
		<-time.After(120 * time.Millisecond)
		fmt.Fprintf(nc, "POST /envs/%s/step HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", id, len(body), body)
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %v", body, resp.StatusCode, err)
		}
		_ = resp.Body.Close() // read whole
	}
}

// A body that says it is too large is refused before it comes.
func TestDeclaredLengthIsEnough(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{MaxBody: 1000})
	nc := w.raw(t, "POST /envs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{")
	_ = nc.SetReadDeadline(time.Now().Add(5 * time.Second))
	resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() // only the status counts
	if resp.StatusCode != http.StatusRequestEntityTooLarge || !resp.Close {
		t.Errorf("%d, close %v", resp.StatusCode, resp.Close)
	}
}

// What an export says that the agent wrote is what was played, whatever else a
// message holds.
func TestExportsSayWhatWasPlayed(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	id, _ := w.env(nil)
	var played []any
	for _, action := range []string{
		`{"message":{"content":"noop","Content":"forged"}}`,
		`{"message":{"Content":"forged","content":"noop"}}`,
		`{"message":{"content":[{"type":"text","text":"no"},{"type":"text","text":"op"}]}}`,
		`{"message":{"content":"noop","tool_calls":[]}}`,
		`{"text":"lone \ud800 half"}`,
		`"lone \uDFFFhalf \\ud800 \ud83d\ude00"`,
	} {
		r := w.do("POST", "/envs/"+id+"/step", `{"action":`+action+`}`)
		if r.status != 200 {
			t.Fatalf("%s: %s", action, r.raw)
		}
		played = append(played, r.m["info"].(map[string]any)["action"].(map[string]any)["arguments"].(map[string]any)["text"])
	}
	w.do("POST", "/envs/"+id+"/score", nil)
	for _, format := range []string{"chat", "trl"} {
		raw := w.do("GET", "/episodes/export?format="+format, nil).raw
		var line struct{ Messages, Completion []map[string]any }
		if err := json.Unmarshal(raw, &line); err != nil {
			t.Fatal(err)
		}
		var wrote []any
		for _, m := range append(line.Messages, line.Completion...) {
			if m["role"] == "assistant" {
				wrote = append(wrote, m["content"])
				if _, ok := m["tool_calls"]; ok {
					t.Errorf("calls that nobody made: %v", m)
				}
			}
		}
		if d := cmp.Diff(played, wrote); d != "" {
			t.Errorf("%s: %s", format, d)
		}
	}
	// A lone half of a pair is JSON to some readers and an error to others.
	for _, path := range []string{"/episodes/export", "/episodes/export?format=chat"} {
		if raw := string(w.do("GET", path, nil).raw); strings.Contains(raw, `lone \ud800`) || strings.Contains(strings.ToLower(raw), `\udfff`) {
			t.Errorf("%s: a lone surrogate in %s", path, raw)
		}
	}
}

// What a reader of the record could read in two ways is no action.
func TestRepeatedMembersOfActions(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	id, _ := w.env(nil)
	for _, action := range []string{
		`{"text":"noop","text":"finish[42]"}`, `{"message":{"content":"noop","content":"finish[42]"}}`,
		`{"message":{"content":"a","tool_calls":[],"tool_calls":[{"function":{"name":"finish"}}]}}`, `{"tool_calls":[],"tool_calls":[]}`,
	} {
		wantProblem(t, w.do("POST", "/envs/"+id+"/step", `{"action":`+action+`}`), 422, "invalid-field")
	}
}

// A copy says of which episode it is one, so that nobody takes the best of many
// tries for the only one; and what a create from a snapshot asks for is done or
// refused.
func TestCopiesSaySo(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	id, ep := w.env(nil)
	w.step(id, "reward")
	snap := w.do("POST", "/envs/"+id+"/snapshot", nil).str("snapshot_id")
	wantProblem(t, w.do("POST", "/envs", map[string]any{"from_snapshot": snap, "version": "0.0.1"}), 422, "invalid-field")
	made := w.do("POST", "/envs", map[string]any{"from_snapshot": snap, "labels": map[string]string{"try": "2"}})
	if l, _ := made.m["labels"].(map[string]any); l["try"] != "2" {
		t.Errorf("labels %v", made.m["labels"])
	}
	forks := w.do("POST", "/envs/"+id+"/fork", nil)
	forked := forks.m["envs"].([]any)[0].(map[string]any)
	for _, of := range []string{made.str("episode_id"), forked["episode_id"].(string)} {
		for range 2 { // as it runs, and as it is kept
			e := w.do("GET", "/episodes/"+of, nil)
			f, _ := e.m["forked_from"].(map[string]any)
			if f["episode_id"] != ep || f["step"] != 1.0 {
				t.Errorf("forked_from %v of %s", f, e.raw)
			}
			w.do("DELETE", "/envs/"+e.str("env_id"), nil)
		}
	}
	if e := w.do("GET", "/episodes/"+made.str("episode_id"), nil); e.m["labels"].(map[string]any)["try"] != "2" {
		t.Errorf("the episode's labels: %v", e.m["labels"])
	}
	if e := w.do("GET", "/episodes/"+ep, nil); e.m["forked_from"] != nil {
		t.Errorf("the first is no copy: %s", e.raw)
	}
	wantProblem(t, w.do("POST", "/envs/"+id+"/snapshot", `{"x":1}`), 422, "unknown-field")
}

// after is checked whether or not events are named.
func TestSubscribeChecksAfterAlone(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	c := w.dial("", nil)
	for _, f := range []string{`"after":-1,"stream":"x"`, `"after":3`} {
		if m := c.ask(`{"id":1,"op":"subscribe",` + f + `}`); m["ok"] != false {
			t.Errorf("%s: %v", f, m)
		}
	}
}
