package policy_test

import (
	"math/rand/v2"

	"github.com/proctor-rl/proctor/trainer/policy"
)

func smallConfig() policy.TransformerConfig {
	return policy.TransformerConfig{Vocab: 31, Context: 96, Dim: 24, Layers: 2, Heads: 4, Smear: true, Mimetic: true}
}

// batchOf packs seqs; every token but the first of a sequence is wanted.
func batchOf(seqs ...[]int32) *policy.Batch {
	b := &policy.Batch{Starts: []int32{0}}
	for _, s := range seqs {
		b.Tokens = append(b.Tokens, s...)
		for i := range s {
			b.Need = append(b.Need, i > 0)
		}
		b.Starts = append(b.Starts, int32(len(b.Tokens)))
	}
	n := len(b.Tokens)
	b.LogP, b.Entropy = make([]float32, n), make([]float32, n)
	b.DLogP, b.DEntropy = make([]float32, n), make([]float32, n)
	return b
}

func randomTokens(rng *rand.Rand, n, vocab int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(rng.IntN(vocab))
	}
	return s
}

func randomBatch(seed uint64, vocab, seqs, maxLen int) *policy.Batch {
	rng := rand.New(rand.NewPCG(seed, 9))
	var all [][]int32
	for range seqs {
		all = append(all, randomTokens(rng, 1+rng.IntN(maxLen), vocab))
	}
	b := batchOf(all...)
	for i := range b.Need {
		b.Need[i] = rng.IntN(3) > 0
	}
	return b
}

// nll sets the gradient of the mean negative log-likelihood of wanted tokens.
func nll(b *policy.Batch) func(lo, hi int) {
	n := 0
	for _, w := range b.Need {
		if w {
			n++
		}
	}
	return func(lo, hi int) {
		for i := lo; i < hi; i++ {
			b.DLogP[i], b.DEntropy[i] = 0, 0
			if b.Need[i] {
				b.DLogP[i] = -1 / float32(n)
			}
		}
	}
}
