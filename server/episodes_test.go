package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/internal/toy"
)

func TestPlayAndRead(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	id, ep := w.env(map[string]any{"task_id": "train-3", "seed": 7, "policy_version": "p1", "group_id": "g1"})
	r := w.step(id, "reward:", "step", 0)
	if r.m["reward"] != 0.25 || r.m["step"] != 0.0 || r.m["status"] != "running" || r.m["return"] != 0.25 {
		t.Fatalf("step: %s", r.raw)
	}
	running := w.do("GET", "/episodes/"+ep, nil)
	if running.m["steps"] != 1.0 || running.m["status"] != "running" {
		t.Errorf("running episode: %s", running.raw)
	}
	r = w.step(id, "finish[42]")
	if r.m["reward"] != 1.0 || r.m["return"] != 1.25 || r.m["done"] != true || r.m["grade"] == nil {
		t.Fatalf("finish: %s", r.raw)
	}
	// Readable at once, by every filter.
	for _, q := range []string{"", "?type=toy", "?task_id=train-3", "?group_id=g1", "?status=terminated"} {
		if l := w.do("GET", "/episodes"+q, nil); !strings.Contains(string(l.raw), ep) {
			t.Errorf("/episodes%s does not have it: %s", q, l.raw)
		}
	}
	if l := w.do("GET", "/episodes?status=failed", nil); strings.Contains(string(l.raw), ep) {
		t.Error("a filter lets everything through")
	}
	steps := w.do("GET", "/episodes/"+ep+"/steps", nil)
	if !strings.Contains(string(steps.raw), `"action":"finish[42]"`) || !strings.Contains(string(steps.raw), "task train-3 seed 7") {
		t.Errorf("steps: %s", steps.raw)
	}
	if again := w.do("POST", "/episodes/"+ep+"/replay", nil); again.m["identical"] != true || again.m["steps"] != 2.0 {
		t.Errorf("replay: %s", again.raw)
	}
	for _, f := range []string{"jsonl", "chat", "trl"} {
		e := w.do("GET", "/episodes/export?format="+f, nil)
		var line map[string]any
		if err := json.Unmarshal(e.raw, &line); err != nil || line["episode_id"] != ep || !strings.Contains(string(e.raw), "finish[42]") {
			t.Errorf("export %s: %v %s", f, err, e.raw)
		}
	}
}

// B26: an end that is replayed or raced for pays once.
func TestTheEndPaysOnce(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	t.Run("again", func(t *testing.T) {
		id, _ := w.env(nil)
		first := w.step(id, "finish[42]", "step", 0)
		same := w.step(id, "finish[42]", "step", 0)
		if same.header.Get("Idempotent-Replayed") != "true" || string(same.raw) != string(first.raw) || first.header.Get("Idempotent-Replayed") != "" {
			t.Errorf("not the stored reply: %s", same.raw)
		}
		for _, a := range []string{"finish[42]", "noop"} {
			wantProblem(t, w.step(id, a), 409, "episode-over")
		}
	})
	t.Run("race", func(t *testing.T) {
		var paid, ended atomic.Int64
		for range 20 {
			id, _ := w.env(nil)
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					r := w.step(id, fmt.Sprintf("finish[%d]", 40+i%4))
					switch {
					case r.status == 200:
						ended.Add(1)
						if r.m["reward"] == 1.0 {
							paid.Add(1)
						}
					case r.status != 409:
						t.Errorf("%d %s", r.status, r.raw)
					}
				})
			}
			wg.Wait()
		}
		if ended.Load() != 20 || paid.Load() > 20 {
			t.Errorf("20 episodes ended %d times and paid %d times", ended.Load(), paid.Load())
		}
	})
}

func TestKeys(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	a := w.do("POST", "/envs", map[string]any{"type": "toy"}, "Idempotency-Key", "k")
	b := w.do("POST", "/envs", map[string]any{"type": "toy"}, "Idempotency-Key", "k")
	if a.str("env_id") != b.str("env_id") || b.header.Get("Idempotent-Replayed") != "true" || w.mgr.Live() != 1 {
		t.Errorf("a repeated create made another env: %s %s", a.raw, b.raw)
	}
	wantProblem(t, w.do("POST", "/envs", map[string]any{"type": "toy", "ttl_seconds": 9}, "Idempotency-Key", "k"), 409, "step-conflict")
	id := a.str("env_id")
	path := "/envs/" + id
	r1 := w.do("POST", path+"/reset", map[string]any{"seed": 1}, "Idempotency-Key", "r")
	r2 := w.do("POST", path+"/reset", map[string]any{"seed": 1}, "Idempotency-Key", "r")
	if r1.str("episode_id") == "" || string(r1.raw) != string(r2.raw) {
		t.Errorf("a repeated reset began another episode: %s %s", r1.raw, r2.raw)
	}
	wantProblem(t, w.do("POST", path+"/reset", map[string]any{"seed": 2}, "Idempotency-Key", "r"), 409, "step-conflict")
	act := map[string]any{"action": "reward:"}
	s1 := w.do("POST", path+"/step", act, "Idempotency-Key", "s")
	s2 := w.do("POST", path+"/step", act, "Idempotency-Key", "s")
	if string(s1.raw) != string(s2.raw) || s2.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("a repeated step ran: %s", s2.raw)
	}
	wantProblem(t, w.do("POST", path+"/step", map[string]any{"action": "noop"}, "Idempotency-Key", "s"), 409, "step-conflict")
	w.step(id, "noop")
	wantProblem(t, w.do("POST", path+"/step", act, "Idempotency-Key", "s"), 409, "step-conflict")
}

// What breaks on our side is a failed episode with a null reward; its text
// stays in the log.
func TestOurFaultIsNeverZero(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	for _, action := range []string{"error", "panic", "nan"} {
		id, ep := w.env(nil)
		r := w.step(id, action)
		v, has := r.m["reward"]
		if r.status != 200 || v != nil || !has || r.m["status"] != "failed" || r.m["done"] != true {
			t.Errorf("%s: %d %s", action, r.status, r.raw)
		}
		wantProblem(t, w.step(id, "noop"), 409, "episode-over")
		for _, p := range []string{"/episodes/" + ep, "/episodes/" + ep + "/steps", "/episodes", "/envs/" + id} {
			if b := w.do("GET", p, nil); strings.Contains(string(b.raw), toy.Secret) {
				t.Errorf("%s: the internal text is in %s", action, p)
			}
		}
		if e := w.do("GET", "/episodes/"+ep, nil); e.m["return"] != nil || e.m["status"] != "failed" {
			t.Errorf("%s: recorded as %s", action, e.raw)
		}
		// The env is good again after a reset.
		if r := w.do("POST", "/envs/"+id+"/reset", nil); r.status != 200 {
			t.Errorf("%s: reset after it: %s", action, r.raw)
		}
	}
	id, _ := w.env(nil)
	wantProblem(t, w.do("POST", "/envs/"+id+"/reset", map[string]any{"seed": -666}), 500, "env-crashed")
	if !strings.Contains(w.log.String(), toy.Secret) {
		t.Error("the cause is not in our log either")
	}
	text := string(w.do("GET", "/metrics", nil).raw)
	for _, m := range []string{
		`proctor_failures_total{boundary="step",env="toy"} 1`, `proctor_failures_total{boundary="panic",env="toy"} 1`,
		`proctor_failures_total{boundary="grade",env="toy"} 1`, `proctor_episodes_total{env="toy",status="failed"} 4`,
	} {
		if !strings.Contains(text, m) {
			t.Errorf("no %s in the metrics", m)
		}
	}
}

func TestMetricsLint(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	id, _ := w.env(nil)
	w.step(id, "error")
	w.env(nil)
	problems, err := testutil.GatherAndLint(w.metrics.Gatherer())
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", err, problems)
	}
	text := string(w.do("GET", "/metrics", nil).raw)
	if strings.Contains(text, "train-") || strings.Contains(text, id) {
		t.Error("a metric has a client's value in a label")
	}
}

func TestDeleteAndExpiry(t *testing.T) {
	now := atomic.Int64{}
	now.Store(time.Now().Unix())
	w := serve(t, episode.Config{Now: func() time.Time { return time.Unix(now.Load(), 0) }}, server.Config{})
	id, ep := w.env(nil)
	for range 2 {
		if r := w.do("DELETE", "/envs/"+id, nil); r.status != http.StatusNoContent {
			t.Errorf("delete: %d", r.status)
		}
	}
	wantProblem(t, w.step(id, "finish[42]"), 404, "env-not-found")
	if e := w.do("GET", "/episodes/"+ep, nil); e.m["status"] != "closed" || e.m["return"] != nil {
		t.Errorf("the abandoned episode: %s", e.raw)
	}
	id, _ = w.env(nil)
	now.Add(3600)
	w.mgr.Sweep()
	wantProblem(t, w.step(id, "noop"), 410, "env-expired")

	// Drawing again in mid-episode leaves a record of the first draw.
	id, ep = w.env(nil)
	w.do("POST", "/envs/"+id+"/reset", nil)
	if e := w.do("GET", "/episodes/"+ep, nil); e.m["status"] != "closed" {
		t.Errorf("the dropped episode: %s", e.raw)
	}
}

func TestRuns(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	r := w.do("POST", "/runs", map[string]any{"name": "react", "labels": map[string]string{"seed": "1"}})
	id := r.str("run_id")
	if r.status != 201 || id == "" {
		t.Fatalf("create: %s", r.raw)
	}
	point := func(u int, v float64) map[string]any {
		return map[string]any{"points": []any{map[string]any{"update": u, "wall_seconds": 1.5, "values": map[string]any{"reward_mean": v}}}}
	}
	for _, p := range []map[string]any{point(2, 0.5), point(1, 0.25), point(2, 0.75)} {
		if r := w.do("POST", "/runs/"+id+"/points", p); r.status != 204 {
			t.Fatalf("push: %d %s", r.status, r.raw)
		}
	}
	if got := string(w.do("GET", "/runs/"+id+"/points", nil).raw); strings.Count(got, "reward_mean") != 2 || !strings.Contains(got, "0.75") || strings.Contains(got, "0.5}") {
		t.Errorf("points: %s", got)
	}
	if got := string(w.do("GET", "/runs/"+id+"/points?after=1", nil).raw); strings.Count(got, "reward_mean") != 1 {
		t.Errorf("points after 1: %s", got)
	}
	if got := string(w.do("GET", "/runs", nil).raw); !strings.Contains(got, `"points":2`) {
		t.Errorf("runs: %s", got)
	}
	wantProblem(t, w.do("POST", "/runs/"+id+"/points", map[string]any{"points": []any{map[string]any{"update": 1, "wall_seconds": 1, "values": map[string]any{"x": "y"}}}}), 422, "invalid-field")
}

func TestTokens(t *testing.T) {
	tok := func(owner string, s server.Scope) server.Token {
		return server.Token{Owner: owner, Scope: s, Hash: server.HashToken("secret-" + owner)}
	}
	w := serve(t, episode.Config{}, server.Config{Tokens: []server.Token{
		tok("ann", server.ScopeRollout), tok("bob", server.ScopeRollout), tok("op", server.ScopeOperator), tok("root", server.ScopeAdmin),
	}})
	as := func(owner string) []string { return []string{"Authorization", "Bearer secret-" + owner} }
	wantProblem(t, w.do("GET", "/envs", nil), 401, "unauthenticated")
	wantProblem(t, w.do("GET", "/envs", nil, "Authorization", "Bearer wrong"), 401, "unauthenticated")
	wantProblem(t, w.do("GET", "/metrics", nil, as("ann")...), 403, "forbidden")
	for _, open := range []string{"/healthz", "/readyz", "/version", "/openapi.yaml"} {
		if r := w.do("GET", open, nil); r.status != 200 {
			t.Errorf("%s: %d", open, r.status)
		}
	}
	r := w.do("POST", "/envs", map[string]any{"type": "toy", "id": "mine"}, as("ann")...)
	if r.status != 201 {
		t.Fatalf("create: %s", r.raw)
	}
	ep := w.do("POST", "/envs/mine/reset", nil, as("ann")...).str("episode_id")
	for _, c := range []struct{ method, path, code string }{
		{"GET", "/envs/mine", "env-not-found"},
		{"DELETE", "/envs/mine", "env-not-found"},
		{"POST", "/envs/mine/score", "env-not-found"},
		{"GET", "/episodes/" + ep, "episode-not-found"},
		{"GET", "/episodes/" + ep + "/steps", "episode-not-found"},
		{"POST", "/episodes/" + ep + "/replay", "episode-not-found"},
	} {
		wantProblem(t, w.do(c.method, c.path, nil, as("bob")...), 404, c.code)
	}
	// Another owner may use the same readable id, so it learns nothing.
	if r := w.do("POST", "/envs", map[string]any{"type": "toy", "id": "mine"}, as("bob")...); r.status != 201 {
		t.Errorf("bob's own mine: %s", r.raw)
	}
	if l := w.do("GET", "/episodes", nil, as("bob")...); strings.Contains(string(l.raw), ep) {
		t.Error("bob lists ann's episode")
	}
	if l := w.do("GET", "/episodes", nil, as("op")...); !strings.Contains(string(l.raw), ep) {
		t.Error("the operator does not see ann's episode")
	}
	if n := w.do("GET", "/metrics", nil, as("op")...).status; n != 200 {
		t.Errorf("metrics for the operator: %d", n)
	}
	wantProblem(t, w.do("POST", "/envs/mine2/score", nil, as("op")...), 404, "env-not-found")
}

func TestCapacityAndDrain(t *testing.T) {
	w := serve(t, episode.Config{MaxEnvs: 2}, server.Config{})
	w.env(nil)
	id, _ := w.env(nil)
	r := w.do("POST", "/envs", map[string]any{"type": "toy"})
	wantProblem(t, r, 429, "capacity")
	if r.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	w.do("DELETE", "/envs/"+id, nil)
	_, ep := w.env(nil)
	w.mgr.Drain(t.Context())
	wantProblem(t, w.do("POST", "/envs", map[string]any{"type": "toy"}), 503, "draining")
	wantProblem(t, w.do("GET", "/readyz", nil), 503, "draining")
	if e := w.do("GET", "/episodes/"+ep, nil); e.m["status"] != "closed" {
		t.Errorf("after the drain: %s", e.raw)
	}
}
