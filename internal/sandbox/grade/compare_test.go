package grade_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/internal/sandbox"
	"github.com/proctor-rl/proctor/internal/sandbox/grade"
	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

func TestCompare(t *testing.T) {
	i, f, s, b := pyval.IntOf, pyval.FloatOf, pyval.StrOf, pyval.BoolOf
	list, tuple, set := pyval.ListOf, pyval.TupleOf, pyval.SetOf
	dict := func(kv ...pyval.Value) pyval.Value {
		var p []pyval.Pair
		for n := 0; n < len(kv); n += 2 {
			p = append(p, pyval.Pair{Key: kv[n], Val: kv[n+1]})
		}
		return pyval.DictOf(p...)
	}
	opaque := pyval.Value{Kind: pyval.Opaque, Str: "int"}
	exact, loose := grade.Compare{}, grade.Compare{LooseSequences: true}
	approx := grade.Compare{Kind: grade.Approx, Rel: 1e-6, Abs: 1e-9}
	unordered := grade.Compare{Kind: grade.Unordered}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name      string
		cmp       grade.Compare
		got, want pyval.Value
		equal     bool
	}{
		{"ints", exact, i(3), i(3), true},
		{"int and float", exact, f(3), i(3), false},
		{"int and bool", exact, b(true), i(1), false},
		{"bool and int", exact, i(1), b(true), false},
		{"zero and false", exact, b(false), i(0), false},
		{"numbers let loose", grade.Compare{LooseNumbers: true}, f(3), i(3), true},
		{"bool stays a bool", grade.Compare{LooseNumbers: true}, b(true), i(1), false},
		{"str and bytes", exact, pyval.BytesOf([]byte("a")), s("a"), false},
		{"none and false", exact, b(false), pyval.NoneOf(), false},
		{"list and tuple", exact, tuple(i(1)), list(i(1)), false},
		{"list and tuple let loose", loose, tuple(i(1)), list(i(1)), true},
		{"let loose inside", loose, list(tuple(i(1))), list(list(i(1))), true},
		{"order", exact, list(i(1), i(2)), list(i(2), i(1)), false},
		{"unordered", unordered, list(i(1), i(2)), list(i(2), i(1)), true},
		{"unordered counts", unordered, list(i(1), i(1)), list(i(2), i(1)), false},
		{"unordered keeps types", unordered, list(b(true), i(2)), list(i(2), i(1)), false},
		{"unordered is for the top", unordered, list(list(i(1), i(2))), list(list(i(2), i(1))), false},
		{"unordered length", unordered, list(i(1)), list(i(1), i(1)), false},
		{"sets", exact, set(i(1), i(2)), set(i(2), i(1)), true},
		{"set and frozenset", exact, pyval.Value{Kind: pyval.FrozenSet}, set(), false},
		{"set and list", loose, list(i(1)), set(i(1)), false},
		{"dicts", exact, dict(s("a"), i(1), s("b"), i(2)), dict(s("b"), i(2), s("a"), i(1)), true},
		{"dict keys by type", exact, dict(b(true), i(1)), dict(i(1), i(1)), false},
		{"dict more", exact, dict(s("a"), i(1), s("b"), i(2)), dict(s("a"), i(1)), false},
		{"dict twice", exact, dict(s("a"), i(1), s("a"), i(1)), dict(s("a"), i(1), s("b"), i(1)), false},
		{"nan is nan", exact, f(nan), f(nan), true},
		{"nan is no number", exact, f(nan), f(1), false},
		{"no number is nan", approx, f(1), f(nan), false},
		{"nan is not close", approx, f(nan), f(1), false},
		{"nan is not close to zero", grade.Compare{Kind: grade.Approx, Abs: inf}, f(nan), f(1), false},
		{"infinity", approx, f(inf), f(inf), true},
		{"infinity is not close", approx, f(inf), f(1e300), false},
		{"minus infinity", approx, f(-inf), f(inf), false},
		{"close", approx, f(1.0000001), f(1), true},
		{"not close", approx, f(1.00001), f(1), false},
		{"close inside", approx, list(f(1.0000001)), list(f(1)), true},
		{"close, exact asked", exact, f(1.0000001), f(1), false},
		{"ints are never close", approx, i(1000000001), i(1000000000), false},
		{"minus zero", exact, f(math.Copysign(0, -1)), f(0), true},
		{"opaque", exact, opaque, i(3), false},
		{"opaque and opaque", exact, opaque, opaque, false},
		{"opaque inside", exact, list(opaque), list(opaque), false},
	} {
		if got := c.cmp.Equal(c.got, c.want); got != c.equal {
			t.Errorf("%s: %s and %s: %v, want %v", c.name, c.got, c.want, got, c.equal)
		}
	}
}

func TestRaises(t *testing.T) {
	k := grade.Case{Raises: "ValueError"}
	chain := func(c ...sandbox.Class) sandbox.Answer { return sandbox.Answer{Done: true, Raised: c} }
	for _, c := range []struct {
		name   string
		k      grade.Case
		answer sandbox.Answer
		right  bool
	}{
		{"itself", k, chain(sandbox.Class{Name: "ValueError", Builtin: true}), true},
		{"subclass", k, chain(sandbox.Class{Name: "Mine"}, sandbox.Class{Name: "ValueError", Builtin: true}), true},
		{"impostor", k, chain(sandbox.Class{Name: "ValueError"}, sandbox.Class{Name: "Exception", Builtin: true}), false},
		{"base", k, chain(sandbox.Class{Name: "Exception", Builtin: true}), false},
		{"own class by name", grade.Case{Raises: "Overdrawn"}, chain(sandbox.Class{Name: "Overdrawn"}, sandbox.Class{Name: "Exception", Builtin: true}), true},
		{"nothing", k, sandbox.Answer{Done: true}, false},
		{"no answer", k, sandbox.Answer{}, false},
		{"raised where a value was due", grade.Case{}, chain(sandbox.Class{Name: "ValueError", Builtin: true}), false},
		{"no answer where None was due", grade.Case{}, sandbox.Answer{}, false},
	} {
		if got := c.k.Right(c.answer); got != c.right {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

const casesText = `[
 {"op": "call", "fn": "echo", "args": [1, 2.0, "é", null, true, [1, [2]], {"b": 1, "a": [2]}], "want": [1, 2.0, "é", null, true, [1, [2]], {"b": 1, "a": [2]}]},
 {"op": "call", "fn": "echo", "args": [{"tuple": [1]}, {"set": [1, 2]}, {"bytes": "00ff"}, {"none": true}, {"float": "nan"}, {"dict": [[1, 2]]}, {"other": 1}],
  "want": {"tuple": [{"tuple": [1]}, {"set": [2, 1]}, {"bytes": "00ff"}, null, {"float": "nan"}, {"dict": [[1, 2]]}, {"other": 1}]}, "tagged": true},
 {"fn": "echo", "args": [5], "want": [5.0], "compare": {"kind": "approx", "rel": 1e-9}},
 {"fn": "rev", "args": [[3, 1, 2]], "want": [1, 2, 3], "compare": {"kind": "unordered"}},
 {"fn": "fail", "args": [], "raises": "LookupError"},
 {"fn": "push", "args": [[1], 2], "want_args": [[1, 2], 2]},
 {"fn": "named", "args": [1], "kwargs": {"b": 2}, "want": 3},
 {"fn": "Box.make", "args": [9999999999999999999999], "want": 9999999999999999999999}
]`

const casesModule = `
def echo(*args): return args
def rev(x): return x[::-1]
def fail(): raise KeyError("x")
def push(x, v): x.append(v)
def named(a, *, b): return a + b
class Box:
    @staticmethod
    def make(n): return n
`

func TestParseCasesAndPlayThem(t *testing.T) {
	cases, err := grade.ParseCases([]byte(casesText))
	if err != nil {
		t.Fatal(err)
	}
	p := pool(t)
	v, err := grade.Grade(context.Background(), p, sandbox.Files{"solution.py": []byte(casesModule)}, grade.Suite{Cases: cases}, grade.Options{Limits: patient})
	if err != nil {
		t.Fatal(err)
	}
	for i, ok := range v.PerCase {
		if want := i != 2; ok != want { // 5 is no float, however close
			t.Errorf("case %d passed: %v", i+1, ok)
		}
	}
	if v.Solved() || v.Passed != 7 || v.Failed != 1 || v.Total() != 8 || v.Fraction() != 7.0/8 {
		t.Errorf("%+v", v)
	}
	for name, bad := range map[string]string{
		"no array": `{}`, "unknown field": `[{"fn": "f", "args": [], "want": 1, "wanted": 2}]`, "nothing wanted": `[{"fn": "f", "args": []}]`,
		"both": `[{"fn": "f", "want": 1, "raises": "E"}]`, "no function": `[{"want": 1}]`, "operation": `[{"op": "eval", "fn": "f", "want": 1}]`,
		"comparison": `[{"fn": "f", "want": 1, "compare": {"kind": "nearly"}}]`, "no tolerance": `[{"fn": "f", "want": 1, "compare": {"kind": "approx"}}]`,
		"negative tolerance": `[{"fn": "f", "want": 1, "compare": {"kind": "approx", "rel": -1}}]`, "hex": `[{"fn": "f", "want": {"bytes": "xyz"}, "tagged": true}]`,
		"arguments": `[{"fn": "f", "args": [1], "want_args": []}]`, "kwargs": `[{"fn": "f", "kwargs": [1], "want": 1}]`,
	} {
		if _, err := grade.ParseCases([]byte(bad)); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// A suite without a case is solved by nobody, and a fault of ours is no
// verdict.
func TestGradeAtItsEdges(t *testing.T) {
	p := pool(t)
	v, err := grade.Grade(context.Background(), p, honest(t), grade.Suite{}, grade.Options{})
	if err != nil || v.Solved() || v.Fraction() != 0 {
		t.Errorf("empty suite: %+v, %v", v, err)
	}
	broken := runner(func(context.Context, sandbox.CallsJob) (sandbox.CallsResult, error) {
		return sandbox.CallsResult{}, &sandbox.InfraError{Op: "fork", Err: errors.New("no memory")}
	})
	if v, err = grade.Grade(context.Background(), broken, honest(t), mixSuite(), grade.Options{}); !errors.Is(err, sandbox.ErrInfra) || v.Total() != 0 {
		t.Errorf("broken sandbox: %+v, %v", v, err)
	}
	var jobs []sandbox.CallsJob
	spy := runner(func(ctx context.Context, job sandbox.CallsJob) (sandbox.CallsResult, error) {
		jobs = append(jobs, job)
		return p.Calls(ctx, job)
	})
	for seed := range uint64(2) {
		if v, err = grade.Grade(context.Background(), spy, honest(t), mixSuite(), grade.Options{Seed: seed, Limits: patient}); err != nil || !v.Solved() {
			t.Fatalf("%+v, %v", v, err)
		}
	}
	orders := map[string]bool{}
	for _, j := range jobs {
		var b strings.Builder
		for _, c := range j.Calls {
			b.WriteString(c.Args[0].String() + "," + c.Args[1].String() + ";")
		}
		orders[b.String()] = true
		if len(j.Calls) <= len(mixInputs) {
			t.Errorf("%d calls for %d cases: none is repeated", len(j.Calls), len(mixInputs))
		}
	}
	if len(jobs) != 4 || len(orders) != 4 {
		t.Errorf("%d processes with %d orders, want four of each", len(jobs), len(orders))
	}
}

type runner func(context.Context, sandbox.CallsJob) (sandbox.CallsResult, error)

func (r runner) Calls(ctx context.Context, job sandbox.CallsJob) (sandbox.CallsResult, error) {
	return r(ctx, job)
}
