package server_test

import (
	"testing"

	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
)

// A misspelt filter is refused: it must not select everything.
func TestUnknownQueryParameters(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	id, _ := w.env(nil)
	for _, tt := range []struct{ method, path, code string }{
		{"GET", "/episodes?taskid=train-3", "unknown-field"},
		{"GET", "/episodes?type=toy&statuss=failed", "unknown-field"},
		{"GET", "/episodes/export?fmt=chat", "unknown-field"},
		{"GET", "/env-types/toy/tasks?page=2", "unknown-field"},
		{"GET", "/env-types?limit=1", "unknown-field"},
		{"POST", "/envs/" + id + "/step?timeout_ms=5", "unknown-field"},
		{"POST", "/envs/" + id + "/reset?seed=5", "unknown-field"},
		{"GET", "/episodes?type=toy&type=other", "invalid-field"},
		{"GET", "/episodes?type=%zz", "invalid-field"},
		{"GET", "/episodes?type=toy;status=failed", "invalid-field"},
		{"GET", "/episodes?limit=0", "invalid-field"},
		{"GET", "/ws?grace=1", "unknown-field"},
		{"GET", "/ws?resume_grace_seconds=1&resume_grace_seconds=2", "invalid-field"},
	} {
		var body any
		if tt.method == "POST" {
			body = map[string]any{"action": "noop"}
		}
		wantProblem(t, w.do(tt.method, tt.path, body), 422, tt.code)
	}
	if r := w.step(id, "noop"); r.m["step"] != 0.0 {
		t.Errorf("a refused step was played: %s", r.raw)
	}
	// Machines that watch a server add to its paths what they like.
	for _, p := range []string{"/healthz?t=1", "/readyz?x", "/version?_=2", "/metrics?t=1", "/episodes?type=toy&limit=2"} {
		if r := w.do("GET", p, nil); r.status != 200 {
			t.Errorf("%s: %d %s", p, r.status, r.raw)
		}
	}
}
