package policy

import "math/rand/v2"

// CopyBatch is one batch of the induction warm-up: random tokens, then spans
// of them again after two random tokens each. Wanted are the repeated tokens
// that their context determines, that is all but the first of a span. Tokens
// below 2 are reserved and do not occur. Batches depend on (seed, step) only.
//
// Some 70 thousand tokens of this, at the start of training, are what it takes
// to make a mimetic transformer copy names that it has never seen.
func CopyBatch(vocab, sequences int, seed, step uint64) *Batch {
	const (
		head  = 20 // tokens to be repeated
		spans = 3
		minL  = 4
		maxL  = 8
	)
	if vocab < 4 {
		panic("policy: vocabulary too small to copy from")
	}
	rng := rand.New(rand.NewPCG(seed, step^0x636f7079))
	random := func() int32 { return int32(2 + rng.IntN(vocab-2)) }
	b := &Batch{Starts: []int32{0}}
	for range sequences {
		lo := len(b.Tokens)
		for range head {
			b.Tokens = append(b.Tokens, random())
		}
		for range spans {
			n := minL + rng.IntN(maxL-minL+1)
			at := lo + rng.IntN(head-n+1)
			b.Tokens = append(b.Tokens, random(), random())
			for len(b.Need) < len(b.Tokens)+1 {
				b.Need = append(b.Need, false)
			}
			for i := range n {
				b.Tokens = append(b.Tokens, b.Tokens[at+i])
			}
			for len(b.Need) < len(b.Tokens) {
				b.Need = append(b.Need, true)
			}
		}
		b.Starts = append(b.Starts, int32(len(b.Tokens)))
	}
	n := len(b.Tokens)
	b.LogP, b.Entropy = make([]float32, n), make([]float32, n)
	b.DLogP, b.DEntropy = make([]float32, n), make([]float32, n)
	return b
}
