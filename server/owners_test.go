package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
)

// Who reads everybody's episodes can tell whose is whose, also where two owners
// have groups of one name; who reads only its own learns no other's name.
func TestEpisodesSayWhoseTheyAre(t *testing.T) {
	tok := func(owner string, s server.Scope) server.Token {
		return server.Token{Owner: owner, Scope: s, Hash: server.HashToken(owner)}
	}
	w := serve(t, episode.Config{}, server.Config{Tokens: []server.Token{
		tok("ann", server.ScopeRollout), tok("bob", server.ScopeRollout), tok("op", server.ScopeOperator),
	}})
	as := func(owner string) []string { return []string{"Authorization", "Bearer " + owner} }
	told := w.dial("", http.Header{"Authorization": {"Bearer op"}})
	told.ask(`{"id":"s","op":"subscribe","owner":"bob"}`)
	eps := map[string]string{}
	for _, who := range []string{"ann", "bob"} {
		id := w.do("POST", "/envs", map[string]any{"type": "toy", "group_id": "g"}, as(who)...).str("env_id")
		eps[who] = w.do("POST", "/envs/"+id+"/reset", map[string]any{"index": 1}, as(who)...).str("episode_id")
		if who == "ann" { // one that has ended, and one that runs
			w.do("POST", "/envs/"+id+"/score", nil, as(who)...)
		}
		w.do("POST", "/runs", map[string]any{"name": "r"}, as(who)...)
	}
	if m := told.recv(); fmt.Sprint(m["episode"]) == "" || !strings.Contains(fmt.Sprint(m["episode"]), "owner:bob") {
		t.Errorf("the operator was told %v", m)
	}
	owners := func(query, who string) (out []string) {
		t.Helper()
		var page struct {
			Episodes []struct{ Owner string } `json:"episodes"`
		}
		if r := w.do("GET", "/episodes?group_id=g"+query, nil, as(who)...); r.status != 200 || json.Unmarshal(r.raw, &page) != nil {
			t.Fatalf("%d %s", r.status, r.raw)
		}
		for _, e := range page.Episodes {
			out = append(out, e.Owner)
		}
		return out
	}
	for _, tt := range []struct{ query, who, want string }{
		{"", "op", "[bob ann]"},
		{"&owner=ann", "op", "[ann]"},
		{"&owner=nobody", "op", "[]"},
		{"", "ann", "[ann]"},
		{"&owner=ann", "ann", "[ann]"},
		{"&owner=bob", "ann", "[]"},
	} {
		if got := fmt.Sprint(owners(tt.query, tt.who)); got != tt.want {
			t.Errorf("%s asks for %q: got %s, want %s", tt.who, tt.query, got, tt.want)
		}
	}
	for _, who := range []string{"ann", "bob"} {
		if r := w.do("GET", "/episodes/"+eps[who], nil, as("op")...); r.m["owner"] != who {
			t.Errorf("episode of %s: %s", who, r.raw)
		}
	}
	for _, tt := range []struct{ path, who, has, not string }{
		{"/episodes/export", "op", `"owner":"ann"`, "bob"},
		{"/episodes/export?format=trl", "op", `"owner":"ann"`, "bob"},
		{"/episodes/export?owner=bob", "op", "", "ann"},
		{"/episodes/export?owner=ann", "bob", "", "ann"},
		{"/runs", "op", `"owner":"bob"`, "nobody"},
		{"/runs", "ann", `"owner":"ann"`, "bob"},
		{"/envs", "op", `"owner":"bob"`, "nobody"},
		{"/envs", "ann", `"owner":"ann"`, "bob"},
	} {
		r := w.do("GET", tt.path, nil, as(tt.who)...)
		if r.status != 200 || !strings.Contains(string(r.raw), tt.has) || strings.Contains(string(r.raw), tt.not) {
			t.Errorf("%s as %s: %d %s", tt.path, tt.who, r.status, r.raw)
		}
	}
}
