package policy

import (
	"math/rand/v2"
	"slices"
)

// Packed is a batch together with the number of its first sequence in the list
// it was cut from: a micro-batch.
type Packed struct {
	Batch
	First int
}

// Pack lays sequences end to end in as few batches as hold at most maxTokens
// each; a longer sequence gets a batch of its own. Sequence k of batch p is
// sequence p.First+k of the list. need marks the tokens whose log-probability
// is wanted. The cut depends on the lengths only.
func Pack(tokens [][]int32, need [][]bool, maxTokens int, temperature float32) []*Packed {
	var out []*Packed
	for i, t := range tokens {
		if len(t) != len(need[i]) {
			panic("policy: mask and tokens differ in length")
		}
		var p *Packed
		if len(out) > 0 {
			p = out[len(out)-1]
		}
		if p == nil || len(p.Tokens)+len(t) > maxTokens {
			p = &Packed{Batch: Batch{Temperature: temperature, Starts: []int32{0}}, First: i}
			out = append(out, p)
		}
		p.Tokens = append(p.Tokens, t...)
		p.Need = append(p.Need, need[i]...)
		p.Starts = append(p.Starts, int32(len(p.Tokens)))
	}
	for _, p := range out {
		n := len(p.Tokens)
		p.LogP = make([]float32, n)
		p.Entropy = make([]float32, n)
		p.DLogP = make([]float32, n)
		p.DEntropy = make([]float32, n)
	}
	return out
}

// Minibatches cuts the numbers below n at random into parts of about the same
// size, some of them empty if there are more parts than numbers. Within a part
// they ascend: members of a group stay side by side, where a policy can compute
// once what they have in common.
func Minibatches(rng *rand.Rand, n, parts int) [][]int {
	out := make([][]int, parts)
	for k, i := range rng.Perm(n) {
		out[k%parts] = append(out[k%parts], i)
	}
	for _, part := range out {
		slices.Sort(part)
	}
	return out
}

// Sequences calls f for every sequence that lies in the tokens [lo,hi) of p,
// which are whole sequences, with its number in the list and its token range.
func (p *Packed) Sequences(lo, hi int, f func(seq, lo, hi int)) {
	k, _ := slices.BinarySearch(p.Starts, int32(lo))
	for ; k+1 < len(p.Starts) && int(p.Starts[k]) < hi; k++ {
		f(p.First+k, int(p.Starts[k]), int(p.Starts[k+1]))
	}
}
