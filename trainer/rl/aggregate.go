package rl

import "fmt"

// Aggregation says how token losses become one number.
type Aggregation string

// The aggregations. Only SumNorm leaves the length of answers unbiased.
const (
	TokenMean Aggregation = "token-mean"              // sum over tokens / tokens of the batch
	SeqMean   Aggregation = "seq-mean-token-mean"     // mean over sequences of their token mean
	SeqSum    Aggregation = "seq-mean-token-sum"      // mean over sequences of their token sum
	SumNorm   Aggregation = "seq-mean-token-sum-norm" // the same, divided by a constant length
)

// Weights are the weight of a token's loss in each sequence of the batch, given
// the number of chosen tokens in each and, for SumNorm, the constant length.
// Counts are those of the whole batch, never of a micro-batch. Sequences
// without a chosen token do not count.
func (a Aggregation) Weights(chosen []int, length float64) []float64 {
	tokens, seqs := 0, 0
	for _, n := range chosen {
		tokens += n
		if n > 0 {
			seqs++
		}
	}
	w := make([]float64, len(chosen))
	for i, n := range chosen {
		if n == 0 {
			continue
		}
		switch a {
		case TokenMean:
			w[i] = 1 / float64(tokens)
		case SeqMean:
			w[i] = 1 / (float64(seqs) * float64(n))
		case SeqSum:
			w[i] = 1 / float64(seqs)
		case SumNorm:
			w[i] = 1 / (float64(seqs) * length)
		default:
			panic("rl: unknown aggregation")
		}
	}
	return w
}

// Check refuses an unknown aggregation.
func (a Aggregation) Check() error {
	switch a {
	case TokenMean, SeqMean, SeqSum, SumNorm:
		return nil
	}
	return fmt.Errorf("unknown aggregation %q: have %s, %s, %s, %s", string(a), TokenMean, SeqMean, SeqSum, SumNorm)
}
