package policy_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/proctor-rl/proctor/trainer/policy"
)

// TestMinibatches checks that minibatches are a random partition whose parts
// ascend.
func TestMinibatches(t *testing.T) {
	for _, c := range []struct{ n, parts int }{{0, 1}, {7, 1}, {7, 2}, {20, 3}, {2, 5}} {
		cut := func(seed uint64) [][]int {
			return policy.Minibatches(rand.New(rand.NewPCG(seed, 1)), c.n, c.parts)
		}
		a := cut(1)
		seen := make([]int, c.n)
		for _, part := range a {
			if !slices.IsSorted(part) {
				t.Errorf("%+v: part %v does not ascend", c, part)
			}
			if len(part) < c.n/c.parts || len(part) > c.n/c.parts+1 {
				t.Errorf("%+v: part of %d", c, len(part))
			}
			for _, i := range part {
				seen[i]++
			}
		}
		if len(a) != c.parts || slices.Contains(seen, 0) || c.n > 0 && slices.Max(seen) > 1 {
			t.Errorf("%+v: %v is no partition", c, a)
		}
		if same := slices.EqualFunc(a, cut(1), slices.Equal); !same {
			t.Errorf("%+v: the same seed gave other parts", c)
		}
		if same := slices.EqualFunc(a, cut(2), slices.Equal); same && c.n == 20 {
			t.Errorf("%+v: another seed gave the same parts", c)
		}
	}
}
