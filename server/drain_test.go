package server_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
)

// A call that a shutdown cuts off is told so: not that its env never was.
func TestDrainCutsALongStepOff(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	id, ep := w.env(nil)
	idle, _ := w.env(nil)
	cut := make(chan reply, 1)
	go func() { cut <- w.do("POST", "/envs/"+id+"/step", map[string]any{"action": "sleep:60000"}) }()
	for deadline := time.Now().Add(10 * time.Second); w.toy.Steps.Load() == 0; {
		if time.Now().After(deadline) {
			t.Fatal("the step does not run")
		}
		time.Sleep(time.Millisecond) // until another goroutine is in the step
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	w.mgr.Drain(ctx)
	r := <-cut
	wantProblem(t, r, 503, "draining")
	if r.m["effect"] != "applied" || r.m["retryable"] != false || r.str("episode_id") != ep {
		t.Errorf("cut off: %s", r.raw)
	}
	wantProblem(t, w.do("POST", "/envs/"+idle+"/step", map[string]any{"action": "noop"}), 503, "draining")
	wantProblem(t, w.do("GET", "/envs/"+idle, nil), 503, "draining")
	if e := w.do("GET", "/episodes/"+ep, nil); e.m["status"] != "closed" || e.m["return"] != nil {
		t.Errorf("after the drain: %s", e.raw)
	}
	// To end what has ended is no error, shutdown or not.
	if r := w.do("DELETE", "/envs/"+idle, nil); r.status != 204 {
		t.Errorf("delete: %d %s", r.status, r.raw)
	}
}

// A detail alone says which field is wrong and why: many clients show no more.
func TestDetailsNameTheField(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	id, _ := w.env(nil)
	for _, tt := range []struct{ path, body, want string }{
		{"/envs", `{}`, "type is required"},
		{"/envs", `{"type":"toy","cpu":9}`, "cpu is not known here"},
		{"/envs", `{"type":"toy","count":1025}`, "count must be at most 1024"},
		{"/envs/" + id + "/reset", `{"limits":{"max_steps":1001}}`, "limits/max_steps must be from 1 to 1000"},
		{"/envs/" + id + "/reset", `{"split":"gold"}`, "split must be one of train, validation, test, user"},
		{"/envs/" + id + "/step", `[]`, "it must be an object"},
		{"/batch/step", `{"items":[{"env_id":"x"}]}`, "items/0/action is required"},
	} {
		if r := w.do("POST", tt.path, tt.body); r.status != 422 || !strings.Contains(r.str("detail"), tt.want) {
			t.Errorf("%s %s: %d %q, want %q", tt.path, tt.body, r.status, r.str("detail"), tt.want)
		}
	}
}
