package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/store"
)

// push adds the updates from first to below end to a run, every tenth with an
// evaluation.
func (w *world) push(run string, first, end int) {
	w.t.Helper()
	var ps []api.Point
	for u := first; u < end; u++ {
		p := api.Point{Update: int64(u), WallSeconds: float64(u), Values: map[string]float64{"reward_mean": float64(u)}}
		if u%10 == 3 {
			p.Values["eval_success"] = 0.5
		}
		ps = append(ps, p)
		if len(ps) == 10000 || u == end-1 {
			if _, err := w.store.AddPoints(w.t.Context(), "", run, ps); err != nil {
				w.t.Fatal(err)
			}
			ps = nil
		}
	}
}

// curve reads a run's curve page by page.
func (w *world) curve(run, query string) (ps []api.Point, pages int) {
	w.t.Helper()
	for cursor := ""; ; pages++ {
		r := w.do("GET", "/runs/"+run+"/points?"+query+cursor, nil)
		var page api.PointList
		if err := json.Unmarshal(r.raw, &page); err != nil || r.status != 200 {
			w.t.Fatalf("%d %v %.300s", r.status, err, r.raw)
		}
		ps = append(ps, page.Points...)
		if page.NextCursor == "" {
			return ps, pages + 1
		}
		cursor = "&cursor=" + page.NextCursor
	}
}

// A run that goes on for days is not refused, and neither its size nor an
// answer grows without end: the past gets coarser, evenly, and keeps its
// evaluations.
func TestALongRunIsThinnedOutAndPaged(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	run := w.do("POST", "/runs", map[string]any{"name": "r"}).str("run_id")
	w.push(run, 0, 2500)
	all, pages := w.curve(run, "")
	if len(all) != 2500 || pages != 3 {
		t.Errorf("%d points in %d pages", len(all), pages)
	}
	if some, pages := w.curve(run, "after=1999&limit=200"); len(some) != 500 || pages != 3 || some[0].Update != 2000 {
		t.Errorf("%d points in %d pages", len(some), pages)
	}
	const end = 22000
	w.push(run, 2500, end)
	all, _, err := w.store.Points(t.Context(), "", run, -1, 100000)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) > 20000 || len(all) < 8000 {
		t.Fatalf("%d points are kept", len(all))
	}
	evals, widest := 0, int64(0)
	for i, p := range all {
		if _, ok := p.Values["eval_success"]; ok {
			evals++
		}
		if i > 0 {
			widest = max(widest, p.Update-all[i-1].Update)
		}
	}
	if all[0].Update != 0 || all[len(all)-1].Update != end-1 || widest > 10 {
		t.Errorf("from %d to %d, with a hole of %d", all[0].Update, all[len(all)-1].Update, widest)
	}
	if evals < end/10/2 {
		t.Errorf("%d of %d evaluations are left", evals, end/10)
	}
	wantProblem(t, w.do("GET", "/runs/"+run+"/points?cursor=x", nil), 422, "invalid-field")
	long := map[string]any{strings.Repeat("x", 129): 1}
	wantProblem(t, w.do("POST", "/runs/"+run+"/points", map[string]any{"points": []any{map[string]any{"update": 1, "wall_seconds": 1, "values": long}}}), 422, "invalid-field")
}

func TestAnOwnerKeepsSoManyRuns(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{Tokens: []server.Token{
		{Owner: "ann", Scope: server.ScopeRollout, Hash: server.HashToken("a")}, {Owner: "bob", Scope: server.ScopeRollout, Hash: server.HashToken("b")},
	}})
	ann, bob := []string{"Authorization", "Bearer a"}, []string{"Authorization", "Bearer b"}
	for i := range store.MostRuns - 1 {
		if err := w.store.AddRun(t.Context(), "ann", api.Run{RunID: fmt.Sprint("r", i)}); err != nil {
			t.Fatal(err)
		}
	}
	name := map[string]any{"name": "r"}
	run := w.do("POST", "/runs", name, ann...).str("run_id")
	wantProblem(t, w.do("POST", "/runs", name, ann...), 429, "capacity")
	if r := w.do("POST", "/runs", name, bob...); r.status != 201 {
		t.Errorf("another owner: %d %s", r.status, r.raw)
	}
	wantProblem(t, w.do("DELETE", "/runs/"+run, nil, bob...), 404, "run-not-found")
	if r := w.do("DELETE", "/runs/"+run, nil, ann...); r.status != 204 {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	wantProblem(t, w.do("DELETE", "/runs/"+run, nil, ann...), 404, "run-not-found")
	wantProblem(t, w.do("GET", "/runs/"+run+"/points", nil, ann...), 404, "run-not-found")
	if r := w.do("POST", "/runs", name, ann...); r.status != 201 {
		t.Errorf("after one was forgotten: %d %s", r.status, r.raw)
	}
}
