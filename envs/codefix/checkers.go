package codefix

import (
	"strings"

	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

// checker makes, of one right answer, what decides about an answer where
// several are right.
type checker func(want pyval.Value) func(args []pyval.Value, got pyval.Value) bool

// checkers are the named checks that built-in tasks use as a kind of
// comparison. What they are given comes from the agent: they trust no type.
var checkers = map[string]checker{
	"index-of":           indexOf,
	"common-subsequence": commonSubsequence,
	"topological-order":  topologicalOrder,
}

func plainInt(v pyval.Value) (int, bool) {
	if v.Kind != pyval.Int || !v.Int.IsInt64() {
		return 0, false
	}
	return int(v.Int.Int64()), true
}

// indexOf accepts any index at which the list of the first argument holds the
// second, and -1 where it does not.
func indexOf(want pyval.Value) func([]pyval.Value, pyval.Value) bool {
	return func(args []pyval.Value, got pyval.Value) bool {
		i, ok := plainInt(got)
		w, _ := plainInt(want)
		if !ok || len(args) != 2 || w < 0 || i < 0 {
			return ok && i == w
		}
		x, ok := plainInt(args[1])
		if !ok || i >= len(args[0].Items) {
			return false
		}
		at, ok := plainInt(args[0].Items[i])
		return ok && at == x
	}
}

// commonSubsequence accepts every text as long as the wanted one whose letters
// stand in both arguments in the same order.
func commonSubsequence(want pyval.Value) func([]pyval.Value, pyval.Value) bool {
	return func(args []pyval.Value, got pyval.Value) bool {
		if got.Kind != pyval.Str || len(got.Str) != len(want.Str) {
			return false
		}
		for _, a := range args {
			rest := a.Str
			for _, r := range got.Str {
				i := strings.IndexRune(rest, r)
				if i < 0 {
					return false
				}
				rest = rest[i+len(string(r)):]
			}
		}
		return true
	}
}

// topologicalOrder accepts every order of the names of the first argument in
// which the edges of the second lead forwards.
func topologicalOrder(pyval.Value) func([]pyval.Value, pyval.Value) bool {
	return func(args []pyval.Value, got pyval.Value) bool {
		if len(args) != 2 || got.Kind != pyval.List && got.Kind != pyval.Tuple || len(got.Items) != len(args[0].Items) {
			return false
		}
		place := map[string]int{}
		for i, v := range got.Items {
			if _, twice := place[v.Str]; twice || v.Kind != pyval.Str {
				return false
			}
			place[v.Str] = i
		}
		for _, n := range args[0].Items {
			if _, ok := place[n.Str]; !ok {
				return false
			}
		}
		for _, e := range args[1].Items {
			if len(e.Items) != 2 || place[e.Items[0].Str] >= place[e.Items[1].Str] {
				return false
			}
		}
		return true
	}
}
