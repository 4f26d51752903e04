package react_test

import (
	"math/rand/v2"
	"testing"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/envtest"
	"github.com/proctor-rl/proctor/envs/react"
)

// given is the answers that must not come for nothing. A comparison names
// both candidates, and a number of a few digits turns up by chance.
func given(t envs.Task) []string {
	var s []string
	for _, g := range react.Golds(t) {
		if len(g) > 3 && t.Public["kind"] != "comparison" {
			s = append(s, g)
		}
	}
	return s
}

func TestConformance(t *testing.T) {
	types := []*react.Type{}
	for _, o := range []react.Options{react.Prose(), react.Compact(), react.Mini(), react.MiniShaped()} {
		typ, err := react.New(o)
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, typ)
	}
	typ, err := react.NewAlmanac(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range append(types, typ) {
		t.Run(typ.Spec().Name, func(t *testing.T) {
			envtest.Run(t, typ, envtest.Options{Tasks: 20, Answers: given})
		})
	}
}

// Every task can be won by the plan that made it, and neither by guessing nor
// by cheating: a sweep over many tasks of every type.
func TestEveryTaskCanBeWon(t *testing.T) {
	for _, o := range []react.Options{react.Prose(), react.Compact(), react.MiniShaped()} {
		typ, err := react.New(o)
		if err != nil {
			t.Fatal(err)
		}
		sweep(t, typ, 400)
	}
	typ, err := react.NewAlmanac(nil)
	if err != nil {
		t.Fatal(err)
	}
	sweep(t, typ, 600)
}

func sweep(t *testing.T, typ *react.Type, n int) {
	t.Helper()
	e, err := typ.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, split := range typ.Spec().Splits {
		for i := range min(n, split.Tasks) {
			task, err := typ.Tasks().At(split.Name, i*split.Tasks/n%split.Tasks)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"perfect", "cheat"} {
				want := 0.0
				if name == "perfect" {
					want = 1
				}
				if got, steps := playScript(t, typ, e, task, name); got != want || steps > typ.Spec().Limits.MaxSteps {
					t.Errorf("%s, %s task %v: %s earned %g in %d steps", typ.Spec().Name, split.Name, task.Public, name, got, steps)
				}
			}
		}
	}
}

func playScript(t *testing.T, typ *react.Type, e envs.Env, task envs.Task, name string) (total float64, steps int) {
	t.Helper()
	s, err := typ.Script(name, task, 0, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	obs, err := e.Reset(t.Context(), envs.Start{Task: task, Limits: typ.Spec().Limits})
	if err != nil {
		t.Fatal(err)
	}
	for steps = 1; steps < 50; steps++ {
		o, err := e.Step(t.Context(), s.Act(obs))
		if err != nil {
			t.Fatal(err)
		}
		total += o.Reward
		if o.Terminated {
			break
		}
		obs = o.Observation
	}
	return total, steps
}
