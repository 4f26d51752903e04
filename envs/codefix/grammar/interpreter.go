package grammar

import (
	"context"

	"github.com/proctor-rl/proctor/envs/codefix"
	"github.com/proctor-rl/proctor/internal/sandbox"
	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

// Interpreter is a Runner that knows the grammar: calls of a program that the
// grammar could have written are answered by this package's interpreter, in
// microseconds and with what Python would answer; everything else, a text with
// one character out of place included, goes to Next. It is for writing
// demonstrations, of which a recipe needs tens of thousands, and for trials of
// recipes.
type Interpreter struct{ Next codefix.Runner }

var _ codefix.Runner = Interpreter{}

// Calls answers a job.
func (r Interpreter) Calls(ctx context.Context, job sandbox.CallsJob) (sandbox.CallsResult, error) {
	if answers, ok := interpret(job); ok {
		return sandbox.CallsResult{Answers: answers}, nil
	}
	return r.Next.Calls(ctx, job)
}

// Pytest is left to Next.
func (r Interpreter) Pytest(ctx context.Context, job sandbox.PytestJob) (sandbox.PytestResult, error) {
	return r.Next.Pytest(ctx, job)
}

// Proxied is left to Next.
func (r Interpreter) Proxied(ctx context.Context, job sandbox.ProxiedJob) (sandbox.PytestResult, error) {
	return r.Next.Proxied(ctx, job)
}

// raised are the classes of exceptions, as Python tells them.
var raised = map[error][]sandbox.Class{
	errType:    classes("TypeError"),
	errZero:    classes("ZeroDivisionError", "ArithmeticError"),
	errUnbound: classes("UnboundLocalError", "NameError"),
}

func classes(names ...string) []sandbox.Class {
	var out []sandbox.Class
	for _, n := range append(names, "Exception", "BaseException", "object") {
		out = append(out, sandbox.Class{Name: n, Builtin: true})
	}
	return out
}

// interpret answers all calls of a job, or none.
func interpret(job sandbox.CallsJob) ([]sandbox.Answer, bool) {
	if len(job.Files) != 1 || job.Module != "" && job.Module != "solution" {
		return nil, false
	}
	p, ok := parse(string(job.Files["solution.py"]))
	if !ok {
		return nil, false
	}
	answers := make([]sandbox.Answer, len(job.Calls))
	for i, c := range job.Calls {
		if c.Fn != "f" || len(c.Args) != 1 || len(c.Kwargs) != 0 || c.WantArgs {
			return nil, false
		}
		xs, ok := integers(c.Args[0])
		if !ok {
			return nil, false
		}
		v, err := p.run(xs)
		switch {
		case err == nil:
			answers[i] = sandbox.Answer{Done: true, Value: v.python()}
		case raised[err] != nil:
			answers[i] = sandbox.Answer{Done: true, Raised: raised[err]}
		default:
			return nil, false
		}
	}
	return answers, true
}

func integers(v pyval.Value) ([]int64, bool) {
	if v.Kind != pyval.List {
		return nil, false
	}
	xs := make([]int64, len(v.Items))
	for i, it := range v.Items {
		if it.Kind != pyval.Int || !it.Int.IsInt64() {
			return nil, false
		}
		if xs[i] = it.Int.Int64(); xs[i] > maxMagnitude || xs[i] < -maxMagnitude {
			return nil, false
		}
	}
	return xs, true
}

func (v value) python() pyval.Value {
	switch v.kind {
	case 'b':
		return pyval.BoolOf(v.n != 0)
	case 'l':
		items := make([]pyval.Value, len(v.l))
		for i, n := range v.l {
			items[i] = pyval.IntOf(n)
		}
		return pyval.ListOf(items...)
	}
	return pyval.IntOf(v.n)
}
