package grade

import (
	"context"

	"github.com/proctor-rl/proctor/internal/sandbox"
	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

// CompareKind says how a result is compared with what is wanted.
type CompareKind string

// The comparisons.
const (
	Exact     CompareKind = "exact"     // same type, same value, order included
	Approx    CompareKind = "approx"    // floats within a tolerance, everything else exact
	Unordered CompareKind = "unordered" // lists and tuples as multisets, at the top level
)

// Compare is a comparison. The zero value is Exact with type-strict sequences.
type Compare struct {
	Kind CompareKind
	Rel  float64 // Approx: relative tolerance
	Abs  float64 // Approx: absolute tolerance
	// LooseSequences lets a list and a tuple of equal items be equal.
	LooseSequences bool
	// LooseNumbers lets an int be equal to a float of the same value. A bool
	// still equals only a bool.
	LooseNumbers bool
}

// Case is one hidden case: a call and what it must come to. Exactly one of
// Want, Raises and Check decides, in this order of precedence: Check, Raises,
// Want.
type Case struct {
	Fn     string
	Args   []pyval.Value
	Kwargs []pyval.Pair
	Want   pyval.Value
	Raises string // name of an exception class; a subclass satisfies it
	// WantArgs, if not nil, is what the arguments must be after the call.
	WantArgs []pyval.Value
	Compare  Compare
	// Check, if not nil, decides by itself whether a returned value is right.
	Check func(args []pyval.Value, got pyval.Value) bool
}

// Suite is the hidden cases of a task.
type Suite struct {
	Module string // default "solution"
	Cases  []Case
}

// Verdict is what a suite says about a workspace. Counts are over the cases
// of the suite, each counted once: a case passes only if all its runs did.
type Verdict struct {
	Passed int
	Failed int // answered wrongly
	Errors int // never answered: crash, hang, import failure
	// PerCase tells which case passed. It is for building tasks and for
	// tests; no agent and no client may learn it.
	PerCase []bool
	// Flaky counts cases that passed in one run and failed in another, which
	// is what code that watches its own circumstances looks like.
	Flaky int
	Fault sandbox.Fault
	Usage sandbox.Usage
}

// Total returns the number of cases.
func (v Verdict) Total() int { return v.Passed + v.Failed + v.Errors }

// Solved reports whether every case passed. A suite without cases is solved
// by nobody.
func (v Verdict) Solved() bool { return v.Passed > 0 && v.Passed == v.Total() }

// Fraction returns the share of cases that passed, 0 for no cases.
func (v Verdict) Fraction() float64 {
	if v.Total() == 0 {
		return 0
	}
	return float64(v.Passed) / float64(v.Total())
}

// Runner plays calls; *sandbox.Pool is one.
type Runner interface {
	Calls(ctx context.Context, job sandbox.CallsJob) (sandbox.CallsResult, error)
}

// Options tune Grade. The zero value is what a reward should rest on.
type Options struct {
	// Seed shuffles; take it from a source no client sees.
	Seed uint64
	// Once runs one process instead of two. It halves the cost and loses the
	// check against code that behaves differently from run to run.
	Once   bool
	Limits sandbox.Limits
}
