package codefix

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/internal/sandbox"
)

// pool is the sandbox that all tests of the package share.
var pool *sandbox.Pool

func TestMain(m *testing.M) {
	p, err := sandbox.New(context.Background(), sandbox.Config{CallChildren: 2, PytestChildren: 1})
	if err != nil {
		fmt.Fprintln(os.Stderr, "these tests run agent code and need the sandbox:", err)
		os.Exit(1)
	}
	pool = p
	code := m.Run()
	if err := p.Close(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// clampTask is a small user task.
func clampTask() Task {
	t, err := ParseTask([]byte(`{"id": "clamp", "prompt": "clamp(x, lo, hi) limits x to [lo, hi]; lo > hi raises ValueError.",
 "files": {"solution.py": "def clamp(x, lo, hi):\n    if x < lo:\n        return hi\n    return min(x, hi)\n",
  "test_solution.py": "from solution import clamp\n\ndef test_inside():\n    assert clamp(5, 0, 10) == 5\n\ndef test_below():\n    assert clamp(-3, 0, 10) == 0\n"},
 "hidden_cases": [{"fn": "clamp", "args": [-7, -2, 9], "want": -2}, {"fn": "clamp", "args": [40, 3, 8], "want": 8},
  {"op": "call", "fn": "clamp", "args": [4, 3, 8], "want": 4}, {"fn": "clamp", "args": [1, 3, 0], "raises": "ValueError"}],
 "fixed": "def clamp(x, lo, hi):\n    if lo > hi:\n        raise ValueError('range')\n    return max(lo, min(x, hi))\n"}`))
	if err != nil {
		panic(err)
	}
	return *t
}

func newType(t *testing.T, o Options) *Type {
	t.Helper()
	if o.Runner == nil {
		o.Runner = pool
	}
	if o.Key == nil {
		o.Key = []byte("test")
	}
	typ, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// played resets a task and plays actions; it returns every outcome.
func playTask(t *testing.T, typ *Type, id string, actions ...string) (envs.Observation, []envs.Outcome) {
	t.Helper()
	task, err := typ.Tasks().Find(id)
	if err != nil {
		t.Fatal(err)
	}
	e, err := typ.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	first, err := e.Reset(t.Context(), envs.Start{Task: task, Limits: typ.Spec().Limits})
	if err != nil {
		t.Fatal(err)
	}
	var outs []envs.Outcome
	for _, a := range actions {
		o, err := e.Step(t.Context(), envs.Action{Text: a})
		if err != nil {
			t.Fatal(err)
		}
		outs = append(outs, o)
	}
	return first, outs
}
