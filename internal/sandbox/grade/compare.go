package grade

import (
	"math"

	"github.com/proctor-rl/proctor/internal/sandbox"
	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

// Equal reports whether got is what is wanted. An opaque value equals
// nothing, and NaN equals only NaN.
func (c Compare) Equal(got, want pyval.Value) bool {
	if c.Kind == Unordered {
		exact := c
		exact.Kind = Exact
		if isSequence(got.Kind) && isSequence(want.Kind) {
			return exact.sameKind(got, want) && exact.multiset(got.Items, want.Items)
		}
		return exact.Equal(got, want)
	}
	if got.Kind == pyval.Opaque || want.Kind == pyval.Opaque || !c.sameKind(got, want) {
		return false
	}
	switch want.Kind {
	case pyval.None:
		return true
	case pyval.Bool:
		return got.Bool == want.Bool
	case pyval.Int, pyval.Float:
		return c.number(got, want)
	case pyval.Str, pyval.Bytes:
		return got.Str == want.Str
	case pyval.List, pyval.Tuple:
		if len(got.Items) != len(want.Items) {
			return false
		}
		for i := range want.Items {
			if !c.Equal(got.Items[i], want.Items[i]) {
				return false
			}
		}
		return true
	case pyval.Set, pyval.FrozenSet:
		return c.multiset(got.Items, want.Items)
	case pyval.Dict:
		return c.dict(got.Pairs, want.Pairs)
	default:
		return false
	}
}

func isSequence(k pyval.Kind) bool { return k == pyval.List || k == pyval.Tuple }

func isNumber(k pyval.Kind) bool { return k == pyval.Int || k == pyval.Float }

func (c Compare) sameKind(got, want pyval.Value) bool {
	switch {
	case got.Kind == want.Kind:
		return true
	case c.LooseSequences && isSequence(got.Kind) && isSequence(want.Kind):
		return true
	case isNumber(got.Kind) && isNumber(want.Kind):
		return c.LooseNumbers
	}
	return false
}

func (c Compare) number(got, want pyval.Value) bool {
	if got.Kind == pyval.Int && want.Kind == pyval.Int {
		return got.Int.Cmp(want.Int) == 0
	}
	g, w := asFloat(got), asFloat(want)
	if math.IsNaN(g) || math.IsNaN(w) {
		return math.IsNaN(g) && math.IsNaN(w)
	}
	if math.IsInf(g, 0) || math.IsInf(w, 0) || c.Kind != Approx {
		return g == w // as in Python, minus zero is zero
	}
	// A difference that is within the tolerance, rather than one that is not
	// beyond it: nothing that fails to compare can pass.
	return math.Abs(g-w) <= math.Max(c.Abs, c.Rel*math.Max(math.Abs(g), math.Abs(w)))
}

func asFloat(v pyval.Value) float64 {
	if v.Kind == pyval.Float {
		return v.Float
	}
	f, _ := v.Int.Float64() // an int beyond the range becomes infinite and equals no finite float
	return f
}

// multiset matches items one to one. The greedy choice is complete for exact
// comparison, which is an equivalence; with tolerances it may refuse a match
// that another order would find, never the other way round.
func (c Compare) multiset(got, want []pyval.Value) bool {
	if len(got) != len(want) {
		return false
	}
	used := make([]bool, len(got))
next:
	for _, w := range want {
		for i, g := range got {
			if !used[i] && c.Equal(g, w) {
				used[i] = true
				continue next
			}
		}
		return false
	}
	return true
}

func (c Compare) dict(got, want []pyval.Pair) bool {
	if len(got) != len(want) {
		return false
	}
	keys := c
	keys.Kind = Exact
	used := make([]bool, len(got))
next:
	for _, w := range want {
		for i, g := range got {
			if !used[i] && keys.Equal(g.Key, w.Key) {
				if !c.Equal(g.Val, w.Val) {
					return false
				}
				used[i] = true
				continue next
			}
		}
		return false
	}
	return true
}

// raised reports whether the exception is the wanted one or a subclass. A
// class that merely took the name of a built-in one is not it.
func raised(classes []sandbox.Class, want string) bool {
	want = exceptionName(want)
	for _, k := range classes {
		if k.Name == want && (k.Builtin || !builtinException(want)) {
			return true
		}
	}
	return false
}

// evasive reports whether an exception that satisfies a case would satisfy
// another case of the suite as well that wants an unrelated class. A class
// below all of them tells nothing apart.
func (s Suite) evasive(k Case, a sandbox.Answer) bool {
	if k.Raises == "" || len(a.Raised) == 0 {
		return false
	}
	want := exceptionName(k.Raises)
	for _, other := range s.Cases {
		o := exceptionName(other.Raises)
		if builtinException(want) && builtinException(o) && !below(want, o) && !below(o, want) && raised(a.Raised, o) {
			return true
		}
	}
	return false
}

// Right reports whether an answer is what the case wants.
func (k Case) Right(a sandbox.Answer) bool {
	if !a.Done {
		return false
	}
	if k.WantArgs != nil {
		if len(a.Args) != len(k.WantArgs) {
			return false
		}
		for i := range k.WantArgs {
			if !k.Compare.Equal(a.Args[i], k.WantArgs[i]) {
				return false
			}
		}
	}
	switch {
	case k.Raises != "" && k.Check == nil:
		return raised(a.Raised, k.Raises)
	case a.Raised != nil:
		return false
	case k.Check != nil:
		return k.Check(k.Args, a.Value)
	}
	return k.Compare.Equal(a.Value, k.Want)
}
