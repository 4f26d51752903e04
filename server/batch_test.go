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

// Items of one env run in the order of the request, whatever else is in it: as
// frames do.
func TestBatchKeepsAnEnvsOrder(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	var ids []string
	for range 3 {
		id, _ := w.env(nil)
		ids = append(ids, id)
	}
	// Each env twenty times: one step at once, one after 5 ms, and so on.
	var items []map[string]any
	for i := range 20 {
		for _, id := range ids {
			items = append(items, map[string]any{"env_id": id, "action": map[bool]string{true: "sleep:5", false: "noop"}[i%2 == 0]})
		}
	}
	type got struct {
		Index  int `json:"index"`
		Result *struct {
			Step      int    `json:"step"`
			EpisodeID string `json:"episode_id"`
		} `json:"result"`
		Problem map[string]any `json:"problem"`
	}
	check := func(items []got, base int) {
		t.Helper()
		if len(items) != 60 {
			t.Errorf("%d items", len(items))
		}
		for _, it := range items {
			if it.Result == nil || it.Result.Step != base+it.Index/3 {
				t.Fatalf("item %d: %+v %v", it.Index, it.Result, it.Problem)
			}
		}
	}
	var done struct {
		Items []got `json:"items"`
	}
	if r := w.do("POST", "/batch/step", map[string]any{"items": items}); json.Unmarshal(r.raw, &done) != nil {
		t.Fatalf("%s", r.raw)
	}
	check(done.Items, 0)
	frame, err := json.Marshal(map[string]any{"id": 1, "op": "batch_step", "items": items[:30]})
	if err != nil {
		t.Fatal(err)
	}
	c := w.dial("", nil)
	all, _ := result(c.ask(string(frame)))["items"].([]any)
	for i, it := range all {
		m, _ := it.(map[string]any)
		if result(m)["step"] != float64(20+i/3) {
			t.Fatalf("item %d over the socket: %v", i, it)
		}
	}
	// What mode first does not wait for goes on in its order too.
	w.do("POST", "/batch/step", map[string]any{"items": items[:30], "mode": "first"})
	eventually(t, "the rest of the batch", func() bool { return w.do("GET", "/envs/"+ids[0], nil).m["step"] == 40.0 })

	var resets []map[string]any
	for i := range 20 {
		resets = append(resets, map[string]any{"env_id": ids[0], "index": i})
	}
	r := w.do("POST", "/batch/reset", map[string]any{"items": resets})
	if n := strings.Count(string(r.raw), `"problem"`); n != 0 {
		t.Errorf("%d resets were refused: %s", n, r.raw)
	}
	ep := w.do("GET", "/envs/"+ids[0], nil).str("episode_id")
	if e := w.do("GET", "/episodes/"+ep, nil); e.str("task_id") != "train-19" {
		t.Errorf("the last reset was not the last: %s", e.raw)
	}
}
