package envtest

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/proctor-rl/proctor/envs"
)

// record is what an episode left behind.
type record struct {
	Actions  []envs.Action
	Outcomes []envs.Outcome
	Return   float64
}

func (r record) last() envs.Outcome { return r.Outcomes[len(r.Outcomes)-1] }

// play plays a script from a reset on to the end of the episode.
func (s *suite) play(t *testing.T, e envs.Env, task envs.Task, script string, obs envs.Observation) record {
	t.Helper()
	scripted, ok := s.typ.(envs.Scripted)
	if !ok {
		t.Fatal("the type is not Scripted: it cannot be checked that it can be won")
	}
	p, err := scripted.Script(script, task, 0.3, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatalf("script %s: %v", script, err)
	}
	var r record
	for {
		checkObservation(t, obs)
		a := p.Act(obs)
		o, err := e.Step(t.Context(), a)
		if err != nil {
			t.Fatalf("%s, step %d: %v", script, len(r.Outcomes), err)
		}
		r.add(t, s, a, o)
		if !o.Terminated && len(r.Outcomes) >= s.opt.MaxSteps {
			o, err = e.Score(t.Context())
			if err != nil {
				t.Fatalf("%s, score: %v", script, err)
			}
			r.add(t, s, envs.Action{}, o)
			if o.Terminated || o.Grade == nil {
				t.Fatalf("%s: score says terminated %v, grade %v", script, o.Terminated, o.Grade)
			}
			return r
		}
		if o.Terminated != (o.Grade != nil) {
			t.Fatalf("%s, step %d: terminated %v with grade %v", script, len(r.Outcomes), o.Terminated, o.Grade)
		}
		if o.Terminated {
			return r
		}
		obs = o.Observation
	}
}

func (r *record) add(t *testing.T, s *suite, a envs.Action, o envs.Outcome) {
	t.Helper()
	s.checkOutcome(t, o)
	r.Actions = append(r.Actions, a)
	r.Outcomes = append(r.Outcomes, o)
	r.Return += o.Reward
}

// checkOutcome looks at one outcome by itself.
func (s *suite) checkOutcome(t *testing.T, o envs.Outcome) {
	t.Helper()
	checkObservation(t, o.Observation)
	sum := 0.0
	seen := map[string]bool{}
	for _, p := range o.Parts {
		sum += p.Value * p.Weight
		if seen[p.Name] || !s.declared(p) {
			t.Errorf("part %+v is twice there or not declared so", p)
		}
		seen[p.Name] = true
	}
	const rounding = 1e-12
	if math.IsNaN(o.Reward) || math.Abs(o.Reward-sum) > rounding {
		t.Errorf("reward %g, parts sum to %g", o.Reward, sum)
	}
	if low := min(0, s.spec.RewardMin); o.Reward < low-rounding || o.Reward > s.spec.RewardMax+rounding {
		t.Errorf("reward %g outside [%g, %g]", o.Reward, low, s.spec.RewardMax)
	}
	if o.StateKey == "" {
		t.Error("no state key")
	}
	if g := o.Grade; g != nil {
		if math.IsNaN(g.Score) || g.Score < 0 || g.Score > 1 || g.Passed != (g.Score == 1) {
			t.Errorf("score %g, passed %v", g.Score, g.Passed)
		}
		if g.Verifier.Name == "" || g.Verifier.Version == "" || g.Verifier.Digest == "" {
			t.Errorf("verifier %+v", g.Verifier)
		}
	}
}

func (s *suite) declared(p envs.RewardPart) bool {
	for _, d := range s.spec.RewardParts {
		if d.Name == p.Name {
			return d.Kind == p.Kind && d.Weight == p.Weight
		}
	}
	return false
}

// checkScripts plays every script twice on every sampled task.
func (s *suite) checkScripts(t *testing.T) {
	scripted, ok := s.typ.(envs.Scripted)
	if !ok {
		t.Fatal("the type is not Scripted")
	}
	names := s.opt.Scripts
	if len(names) == 0 {
		names = scripted.Scripts()
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			for _, task := range s.sample(t) {
				s.checkScript(t, name, task)
			}
		})
	}
}

func (s *suite) checkScript(t *testing.T, name string, task envs.Task) {
	t.Helper()
	once := func() (envs.Observation, record) {
		e := s.env(t)
		obs := s.reset(t, e, task)
		return obs, s.play(t, e, task, name, obs)
	}
	obs, r := once()
	obs2, r2 := once()
	if encode(t, obs) != encode(t, obs2) || encode(t, r) != encode(t, r2) {
		t.Errorf("task %s: equal starts and actions gave other bytes", task.ID)
	}
	s.hides(t, "reset", task, encode(t, obs), true)
	for _, o := range r.Outcomes {
		s.hides(t, "outcome", task, encode(t, o), name == "lazy")
	}
	const rounding = 1e-9
	g := r.last().Grade
	switch name {
	case "perfect":
		if math.Abs(r.Return-s.spec.RewardMax) > rounding || !g.Passed {
			t.Errorf("task %s: perfect earned %g, grade %+v", task.ID, r.Return, g)
		}
	case "lazy", "cheat":
		if (math.Abs(r.Return) > rounding && math.Abs(r.Return-s.spec.RewardMin) > rounding) || g.Passed || g.Score != 0 {
			t.Errorf("task %s: %s earned %g, grade %+v", task.ID, name, r.Return, g)
		}
	}
}

// checkFork goes on from a copy: the copy and the original agree step by step
// and do not touch each other.
func (s *suite) checkFork(t *testing.T) {
	for _, task := range s.sample(t) {
		e := s.env(t)
		ref := s.play(t, e, task, "perfect", s.reset(t, e, task))
		s.reset(t, e, task)
		half := len(ref.Actions) / 2
		for _, a := range ref.Actions[:half] {
			s.step(t, e, a)
		}
		f, ok := e.(envs.Forker)
		if !ok {
			t.Fatal("the spec says snapshot and the Env is no Forker")
		}
		copied, err := f.Fork(t.Context())
		if err != nil {
			t.Fatalf("fork: %v", err)
		}
		for i, a := range ref.Actions[half:] {
			if got, want := encode(t, s.step(t, copied, a)), encode(t, ref.Outcomes[half+i]); got != want {
				t.Errorf("task %s, step %d of the copy:\ngot  %s\nwant %s", task.ID, half+i, got, want)
			}
		}
		if err := copied.Close(); err != nil {
			t.Errorf("close the copy: %v", err)
		}
		for i, a := range ref.Actions[half:] {
			if got, want := encode(t, s.step(t, e, a)), encode(t, ref.Outcomes[half+i]); got != want {
				t.Errorf("task %s, step %d of the original after its copy ended:\ngot  %s\nwant %s", task.ID, half+i, got, want)
			}
		}
	}
}

func (s *suite) step(t *testing.T, e envs.Env, a envs.Action) envs.Outcome {
	t.Helper()
	o, err := e.Step(context.WithoutCancel(t.Context()), a)
	if err != nil {
		t.Fatalf("step: %v", err)
	}
	return o
}
