// Package envtest is the conformance suite of environment types.
//
// Run checks what envs promises on behalf of every type: determinism, an end
// that is an end, garbage that is an outcome, rewards that add up, observations
// that give nothing away. It knows no concrete environment; each type's tests
// call Run once. It is no substitute for tests of what a type means.
package envtest

import (
	"testing"

	"github.com/proctor-rl/proctor/envs"
)

// Options adapt the suite to a type.
type Options struct {
	// Tasks is how many tasks of each split are tried, 3 if zero.
	Tasks int
	// Scripts names the scripts to play, all if empty.
	Scripts []string
	// MaxSteps bounds a script's episode, the type's own limit if zero.
	MaxSteps int
	// Secrets are strings that must stand in no public field and in no
	// observation, whoever plays: hidden inputs, names of hidden checks.
	Secrets func(envs.Task) []string
	// Answers are strings that must not be given away for nothing: neither in
	// public fields, nor at reset, nor for garbage, nor to the lazy script.
	Answers func(envs.Task) []string
	// SkipGarbage leaves out actions that a slow type cannot afford.
	SkipGarbage bool
}

// Run checks typ.
func Run(t *testing.T, typ envs.Type, o Options) {
	t.Helper()
	if o.Tasks == 0 {
		o.Tasks = 3
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = max(typ.Spec().Limits.MaxSteps, 1)
	}
	if o.Secrets == nil {
		o.Secrets = func(envs.Task) []string { return nil }
	}
	if o.Answers == nil {
		o.Answers = func(envs.Task) []string { return nil }
	}
	s := &suite{typ: typ, spec: typ.Spec(), opt: o}
	t.Run("spec", s.checkSpec)
	t.Run("tasks", s.checkTasks)
	t.Run("action forms", s.checkForms)
	t.Run("life", s.checkLife)
	t.Run("cancel", s.checkCancel)
	t.Run("early score", s.checkScore)
	t.Run("observation cap", s.checkCap)
	if !o.SkipGarbage {
		t.Run("garbage", s.checkGarbage)
	}
	t.Run("scripts", s.checkScripts)
	if s.spec.Can.Snapshot {
		t.Run("fork", s.checkFork)
	}
}

type suite struct {
	typ  envs.Type
	spec envs.Spec
	opt  Options
}

// sample is a few tasks of every split: the first ones and some further on.
func (s *suite) sample(t *testing.T) []envs.Task {
	t.Helper()
	var tasks []envs.Task
	for _, split := range s.spec.Splits {
		n := min(s.opt.Tasks, split.Tasks)
		for k := range n {
			i := k
			if k%2 == 1 {
				i = split.Tasks - 1 - k*7%split.Tasks
			}
			task, err := s.typ.Tasks().At(split.Name, i)
			if err != nil {
				t.Fatalf("task %d of %s: %v", i, split.Name, err)
			}
			tasks = append(tasks, task)
		}
	}
	if len(tasks) == 0 {
		t.Fatal("the type has no tasks")
	}
	return tasks
}

func (s *suite) env(t *testing.T) envs.Env {
	t.Helper()
	e, err := s.typ.New(t.Context())
	if err != nil {
		t.Fatalf("new: %v", err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return e
}

func (s *suite) start(task envs.Task) envs.Start {
	return envs.Start{Task: task, Seed: 7, Limits: s.spec.Limits}
}

func (s *suite) reset(t *testing.T, e envs.Env, task envs.Task) envs.Observation {
	t.Helper()
	obs, err := e.Reset(t.Context(), s.start(task))
	if err != nil {
		t.Fatalf("reset %s: %v", task.ID, err)
	}
	return obs
}
