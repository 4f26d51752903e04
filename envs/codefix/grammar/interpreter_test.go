package grammar

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/internal/sandbox"
	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

func TestParseReadsWhatTheGrammarWrites(t *testing.T) {
	for i := range 300 {
		ch := choose(envs.SplitTrain, i)
		for _, m := range append(mutants(ch.gold), mutants(ch.bug.prog)...) {
			text := m.prog.text()
			p, ok := parse(text)
			if !ok {
				t.Fatalf("not read:\n%s", text)
			}
			for _, xs := range ch.shown {
				a, errA := m.prog.run(xs)
				b, errB := p.run(xs)
				if !errors.Is(errA, errB) || errA == nil && a.json() != b.json() {
					t.Fatalf("%v: %v %v, read: %v %v\n%s", xs, a, errA, b, errB, text)
				}
			}
		}
	}
}

func TestParseLeavesTheRestToPython(t *testing.T) {
	const good = "def f(xs):\n    r = 0\n    for x in xs[1:]:\n        if x > 2:\n            r += x * 3\n    return r\n"
	if _, ok := parse(good); !ok {
		t.Fatal("a program of the grammar is not read")
	}
	for name, text := range map[string]string{
		"another name":          "def f(xs):\n    r = 0\n    for abs in xs[1:]:\n        r += abs\n    return r\n",
		"one name twice":        "def f(xs):\n    xs = 0\n    for x in xs:\n        xs += x\n    return xs\n",
		"a chain":               "def f(xs):\n    r = 0\n    for x in xs:\n        if 0 < x < 3:\n            r += x\n    return r\n",
		"used before it is set": "def f(xs):\n    r = x\n    for x in xs:\n        r += x\n    return r\n",
		"an unknown slice":      "def f(xs):\n    r = 0\n    for x in xs[3:]:\n        r += x\n    return r\n",
		"a power":               "def f(xs):\n    r = 0\n    for x in xs:\n        r += x ** 2\n    return r\n",
		"a comment":             good[:len(good)-1] + "  # done\n",
		"other blanks":          "def f(xs):\n    r = 0\n    for x in xs:\n        r += x*2\n    return r\n",
		"no newline":            good[:len(good)-1],
		"more":                  good + "\n",
		"an import":             "import os\n" + good,
		"nothing":               "",
		"a call":                "def f(xs):\n    r = 0\n    for x in xs:\n        r += g(x)\n    return r\n",
		"wrong indentation":     "def f(xs):\n    r = 0\n    for x in xs:\n    r += x\n    return r\n",
		"a leading zero":        "def f(xs):\n    r = 00\n    for x in xs:\n        r += x\n    return r\n",
	} {
		if p, ok := parse(text); ok {
			t.Errorf("%s: read as\n%s", name, p.text())
		}
	}
}

// What the interpreter answers must be what the sandbox answers, and demos
// rest on it: demonstrations of one kind are played in both.
func TestInterpreterAnswersAsTheSandbox(t *testing.T) {
	pool, err := sandbox.New(t.Context(), sandbox.Config{})
	if err != nil {
		t.Fatalf("this test needs a machine that can confine code, and python3: %v", err)
	}
	defer pool.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	answered := 0
	for i := range 60 {
		ch := choose(envs.SplitTrain, 1000+i)
		ms := append(mutants(ch.gold), mutants(ch.bug.prog)...)
		p := ms[rng.IntN(len(ms))].prog
		job := sandbox.CallsJob{Files: sandbox.Files{"solution.py": []byte(p.text())}}
		for _, xs := range append(ch.shown, nil, []int64{0}) {
			job.Calls = append(job.Calls, sandbox.Call{Fn: "f", Args: []pyval.Value{value{kind: 'l', l: xs}.python()}})
		}
		got, ok := interpret(job)
		if !ok {
			continue
		}
		answered++
		want, err := pool.Calls(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want.Answers, got, cmp.Comparer(func(a, b pyval.Value) bool { return a.Kind == b.Kind && a.String() == b.String() })); d != "" {
			t.Fatalf("sandbox and interpreter differ: %s\n%s", d, p.text())
		}
	}
	if answered < 40 {
		t.Errorf("only %d of 60 programs were interpreted", answered)
	}
}

// nobody is a Runner that must not be asked.
type nobody struct{}

var errAsked = errors.New("asked")

func (nobody) Calls(context.Context, sandbox.CallsJob) (sandbox.CallsResult, error) {
	return sandbox.CallsResult{}, errAsked
}

func (nobody) Pytest(context.Context, sandbox.PytestJob) (sandbox.PytestResult, error) {
	return sandbox.PytestResult{}, errAsked
}

func (nobody) Proxied(context.Context, sandbox.ProxiedJob) (sandbox.PytestResult, error) {
	return sandbox.PytestResult{}, errAsked
}

func TestInterpreterAsksTheSandboxForTheRest(t *testing.T) {
	r := Interpreter{Next: nobody{}}
	const good = "def f(xs):\n    r = 0\n    for x in xs:\n        r += x\n    return r\n"
	args := []pyval.Value{pyval.ListOf(pyval.IntOf(2), pyval.IntOf(3))}
	job := func(text string, c sandbox.Call) sandbox.CallsJob {
		return sandbox.CallsJob{Files: sandbox.Files{"solution.py": []byte(text)}, Calls: []sandbox.Call{c}}
	}
	res, err := r.Calls(t.Context(), job(good, sandbox.Call{Fn: "f", Args: args}))
	if err != nil || len(res.Answers) != 1 || res.Answers[0].Value.String() != "5" {
		t.Fatalf("%+v %v", res, err)
	}
	for name, j := range map[string]sandbox.CallsJob{
		"another text":     job(good+"print(1)\n", sandbox.Call{Fn: "f", Args: args}),
		"another function": job(good, sandbox.Call{Fn: "g", Args: args}),
		"no list":          job(good, sandbox.Call{Fn: "f", Args: []pyval.Value{pyval.IntOf(1)}}),
		"a bool":           job(good, sandbox.Call{Fn: "f", Args: []pyval.Value{pyval.ListOf(pyval.BoolOf(true))}}),
		"wanted arguments": job(good, sandbox.Call{Fn: "f", Args: args, WantArgs: true}),
		"huge":             job(good, sandbox.Call{Fn: "f", Args: []pyval.Value{pyval.ListOf(pyval.IntOf(1 << 40))}}),
	} {
		if _, err := r.Calls(t.Context(), j); !errors.Is(err, errAsked) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.Pytest(t.Context(), sandbox.PytestJob{}); !errors.Is(err, errAsked) {
		t.Error("pytest was not left to the sandbox")
	}
	if _, err := r.Proxied(t.Context(), sandbox.ProxiedJob{}); !errors.Is(err, errAsked) {
		t.Error("proxied tests were not left to the sandbox")
	}
}
