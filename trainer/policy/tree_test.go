package policy_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/proctor-rl/proctor/trainer/policy"
)

// family is a batch of groups whose members begin alike for a while: a prompt
// of which nothing is wanted, and then turns, an action that is and an
// observation that is not, some of them equal.
func family(rng *rand.Rand, groups, members int) *policy.Batch {
	b := &policy.Batch{Starts: []int32{0}}
	for range groups {
		prompt := randomTokens(rng, 1+rng.IntN(40), 31)
		actions := [][]int32{randomTokens(rng, 1+rng.IntN(9), 31), randomTokens(rng, 3, 31)}
		answer := randomTokens(rng, rng.IntN(20), 31)
		for range members {
			b.Tokens = append(b.Tokens, prompt...)
			b.Need = append(b.Need, make([]bool, len(prompt))...)
			for range rng.IntN(3) {
				for _, v := range actions[rng.IntN(2)] {
					b.Tokens, b.Need = append(b.Tokens, v), append(b.Need, true)
				}
				b.Tokens, b.Need = append(b.Tokens, answer...), append(b.Need, make([]bool, len(answer))...)
			}
			b.Starts = append(b.Starts, int32(len(b.Tokens)))
		}
	}
	n := len(b.Tokens)
	b.LogP, b.Entropy, b.DLogP, b.DEntropy = make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
	return b
}

// TestGroupsAreSharedExactly compares batches of groups, whose common
// beginnings are computed once, with their sequences one by one: bit for bit
// the same log-probabilities, and the same gradient but for rounding.
func TestGroupsAreSharedExactly(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 21))
		p := policy.NewTransformer(smallConfig(), 4)
		b := family(rng, 1+rng.IntN(4), 1+rng.IntN(9))
		weights := make([]float32, len(b.Tokens))
		for i := range weights {
			weights[i] = float32(rng.NormFloat64())
		}
		p.Accumulate(b, func(lo, hi int) {
			copy(b.DLogP[lo:hi], weights[lo:hi])
			for i := lo; i < hi; i++ {
				b.DEntropy[i] = -0.3 * weights[i]
			}
		})
		got := slices.Clone(p.Grads())
		clear(p.Grads())
		for s := range len(b.Starts) - 1 {
			lo, hi := b.Starts[s], b.Starts[s+1]
			one := batchOf(b.Tokens[lo:hi])
			copy(one.Need, b.Need[lo:hi])
			p.Accumulate(one, func(int, int) {
				copy(one.DLogP, weights[lo:hi])
				for i := range one.DEntropy {
					one.DEntropy[i] = -0.3 * weights[int(lo)+i]
				}
			})
			if !slices.Equal(one.LogP, b.LogP[lo:hi]) || !slices.Equal(one.Entropy, b.Entropy[lo:hi]) {
				t.Fatalf("seed %d: sequence %d differs when it is alone", seed, s)
			}
		}
		var diff, norm float64
		for i, g := range p.Grads() {
			diff += math.Pow(float64(g-got[i]), 2)
			norm += math.Pow(float64(g), 2)
		}
		if diff > 1e-10*norm {
			t.Errorf("seed %d: gradients differ by %.2g of %.2g", seed, math.Sqrt(diff), math.Sqrt(norm))
		}
	}
}

// TestGroupsAreComputedOnce counts the tokens that are computed for a group.
func TestGroupsAreComputedOnce(t *testing.T) {
	prompt := randomTokens(rand.New(rand.NewPCG(1, 1)), 60, 31)
	var seqs [][]int32
	for m := range int32(8) {
		seqs = append(seqs, append(slices.Clone(prompt), m%2, 5, 6, m))
	}
	b := batchOf(seqs...)
	for i := range b.Need {
		b.Need[i] = i%64 >= 60
	}
	// 59 of the prompt, whose last token the members keep for themselves, and
	// 8 times five.
	if got := policy.Computed(b); got != 59+8*5 {
		t.Errorf("%d tokens are computed, want %d", got, 59+8*5)
	}
	same := batchOf(seqs[0], seqs[0], seqs[0])
	if got := policy.Computed(same); got != 64 {
		t.Errorf("three equal sequences: %d tokens are computed, want 64", got)
	}
}

// TestGroupsAreNotCut checks that chunks end with groups: four groups that are
// longer than a chunk, one for each lane, have their beginnings computed once.
func TestGroupsAreNotCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var seqs [][]int32
	for range 4 {
		prompt := randomTokens(rng, 16, 31)
		for m := range int32(16) {
			seqs = append(seqs, append(append(slices.Clone(prompt), m), randomTokens(rng, 60, 31)...))
		}
	}
	b := batchOf(seqs...)
	for i := range b.Need {
		b.Need[i] = i%77 > 17
	}
	if got, want := policy.ComputedBy(policy.NewTransformer(smallConfig(), 4), b), 4*(16+16*61); got != want {
		t.Errorf("%d tokens are computed, want %d", got, want)
	}
}

// TestWhatIsWantedIsNotShared has equal sequences of which different tokens are
// wanted: each gets what it asked for.
func TestWhatIsWantedIsNotShared(t *testing.T) {
	p := policy.NewTransformer(smallConfig(), 4)
	seq := randomTokens(rand.New(rand.NewPCG(3, 3)), 40, 31)
	b := batchOf(seq, seq, seq)
	for i := range b.Need {
		b.Need[i] = i%40 > 20+5*(i/40)
	}
	b.Need[30] = false
	p.Accumulate(b, nll(b))
	got := slices.Clone(p.Grads())
	clear(p.Grads())
	for s := range 3 {
		lo, hi := 40*s, 40*s+40
		one := batchOf(seq)
		copy(one.Need, b.Need[lo:hi])
		p.LogProbs(one)
		if !slices.Equal(one.LogP, b.LogP[lo:hi]) {
			t.Errorf("sequence %d: %v, alone %v", s, b.LogP[lo:hi], one.LogP)
		}
		p.Accumulate(one, func(int, int) { copy(one.DLogP, b.DLogP[lo:hi]) })
	}
	for i, g := range p.Grads() {
		if math.Abs(float64(g-got[i])) > 1e-5 {
			t.Fatalf("gradient %d: %g together, %g alone", i, got[i], g)
		}
	}
}
