package rl

// ReturnsToGo writes G_t = sum over k>=t of gamma^(k-t) r_k.
func ReturnsToGo(dst, rewards []float64, gamma float64) {
	mustLen(len(dst) == len(rewards))
	g := 0.0
	for t := len(rewards) - 1; t >= 0; t-- {
		g = rewards[t] + gamma*g
		dst[t] = g
	}
}

// TurnReturns discounts by steps, not by tokens, and gives every token of a
// step that step's return: a discount per token would punish long answers.
func TurnReturns(stepRewards []float64, tokensPerStep []int, gamma float64) []float64 {
	mustLen(len(stepRewards) == len(tokensPerStep))
	g := make([]float64, len(stepRewards))
	ReturnsToGo(g, stepRewards, gamma)
	var out []float64
	for i, n := range tokensPerStep {
		for range n {
			out = append(out, g[i])
		}
	}
	return out
}

// MaskedReturnsToGo is ReturnsToGo on the tokens where mask is true; elsewhere
// it writes 0. The return crosses the gaps, and a reward that lands on a
// masked token counts for the tokens before it.
func MaskedReturnsToGo(dst, rewards []float64, mask []bool, gamma float64) {
	r, at := compress(rewards, mask)
	g := make([]float64, len(r))
	ReturnsToGo(g, r, gamma)
	expand(dst, g, at)
}

// compress keeps the entries where mask is true. A reward on a masked token
// moves to the last kept token before it.
func compress(rewards []float64, mask []bool) (kept []float64, at []int) {
	mustLen(len(rewards) == len(mask))
	for i, m := range mask {
		switch {
		case m:
			kept = append(kept, rewards[i])
			at = append(at, i)
		case len(kept) > 0:
			kept[len(kept)-1] += rewards[i]
		}
	}
	return kept, at
}

func expand(dst, kept []float64, at []int) {
	clear(dst)
	for k, i := range at {
		dst[i] = kept[k]
	}
}

func mustLen(ok bool) {
	if !ok {
		panic("rl: lengths differ")
	}
}
