package server_test

import (
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
)

// More envs at once than there can ever be are a field that is wrong, not a
// server that is full now: a client that repeats a 429 would do so for ever.
func TestMoreThanEverFits(t *testing.T) {
	w := serve(t, episode.Config{MaxEnvs: 8, MaxEnvsPerOwner: 3}, server.Config{})
	env, _ := w.env(nil)
	snap := w.do("POST", "/envs/"+env+"/snapshot", nil).str("snapshot_id")
	for _, tt := range []struct {
		name, path string
		body       map[string]any
		most       string
	}{
		{"group", "/envs", map[string]any{"type": "toy", "count": 4}, "3"},
		{"copies of a snapshot", "/envs", map[string]any{"from_snapshot": snap, "count": 4}, "3"},
		{"fork", "/envs/" + env + "/fork", map[string]any{"count": 3}, "2"}, // beside the env itself
	} {
		r := w.do("POST", tt.path, tt.body)
		if r.status != 422 || r.str("code") != "invalid-field" || r.m["retryable"] != false ||
			!strings.Contains(string(r.raw), `"/count"`) || !strings.Contains(string(r.raw), "at most "+tt.most) || !strings.Contains(string(r.raw), "3 live envs") {
			t.Errorf("%s: %d %s", tt.name, r.status, r.raw)
		}
	}
	// What only does not fit now stays a reason to come back.
	if r := w.do("POST", "/envs", map[string]any{"type": "toy", "count": 3}); r.status != 429 || r.m["retryable"] != true {
		t.Errorf("a group beside an env: %d %s", r.status, r.raw)
	}
	if r := w.do("POST", "/envs/"+env+"/fork", map[string]any{"count": 2}); r.status != 201 {
		t.Errorf("fork: %d %s", r.status, r.raw)
	}
	all := serve(t, episode.Config{MaxEnvs: 2}, server.Config{})
	if r := all.do("POST", "/envs", map[string]any{"type": "toy", "count": 3}); r.status != 422 || !strings.Contains(string(r.raw), "the server has at most 2 live envs") {
		t.Errorf("a group larger than the server: %d %s", r.status, r.raw)
	}
}
