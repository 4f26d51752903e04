package server_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
)

func TestBatch(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	r := w.do("POST", "/envs", map[string]any{"type": "toy", "count": 4})
	var group struct {
		GroupID string `json:"group_id"`
		Envs    []struct {
			EnvID string `json:"env_id"`
		} `json:"envs"`
	}
	if err := json.Unmarshal(r.raw, &group); err != nil || len(group.Envs) != 4 {
		t.Fatalf("group: %v %s", err, r.raw)
	}
	var resets, steps []map[string]any
	for i, e := range group.Envs {
		resets = append(resets, map[string]any{"env_id": e.EnvID})
		steps = append(steps, map[string]any{"env_id": e.EnvID, "action": map[bool]string{true: "sleep:2000", false: "noop"}[i == 0], "step": 0})
	}
	r = w.do("POST", "/batch/reset", map[string]any{"items": resets})
	var done struct {
		Items []struct {
			Result *struct {
				Observation struct{ Text string } `json:"observation"`
				GroupID     string                `json:"group_id"`
			} `json:"result"`
			Problem map[string]any `json:"problem"`
		} `json:"items"`
	}
	if err := json.Unmarshal(r.raw, &done); err != nil || len(done.Items) != 4 {
		t.Fatalf("batch reset: %v %s", err, r.raw)
	}
	for _, it := range done.Items {
		// All members of a group start from the identical state.
		if it.Result == nil || done.Items[0].Result == nil || it.Result.Observation.Text != done.Items[0].Result.Observation.Text || it.Result.GroupID != group.GroupID {
			t.Errorf("member starts elsewhere: %s", r.raw)
		}
	}
	steps = append(steps, map[string]any{"env_id": "nope", "action": "x"})
	begin := time.Now()
	r = w.do("POST", "/batch/step", map[string]any{"items": steps, "mode": "first", "min_ready": 4})
	if d := time.Since(begin); d > 1500*time.Millisecond {
		t.Errorf("mode first waited %v for the slow one", d)
	}
	if n := strings.Count(string(r.raw), `"code":"step-in-progress"`); n != 1 || !strings.Contains(string(r.raw), "env-not-found") {
		t.Errorf("batch step: %s", r.raw)
	}
	lines := w.do("POST", "/batch/step", map[string]any{"items": steps[1:4], "mode": "all"}, "Accept", "application/x-ndjson")
	if rs := w.do("POST", "/batch/reset", map[string]any{"items": resets[1:]}, "Accept", "application/x-ndjson"); strings.Count(string(rs.raw), `"<&>"`) != 3 {
		t.Errorf("lines: %s", rs.raw)
	}
	if n := strings.Count(strings.TrimSpace(string(lines.raw)), "\n") + 1; n != 3 || lines.header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("lines: %s", lines.raw)
	}
	wantProblem(t, w.do("POST", "/batch/step", map[string]any{"items": []any{}}), 422, "invalid-field")
	wantProblem(t, w.do("POST", "/batch/step", map[string]any{"items": steps, "mode": "some"}), 422, "invalid-field")
}
