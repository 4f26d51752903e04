package rl

import "math"

// Shape adds potential-based shaping (Ng et al. 1999) to rewards:
// r'_t = r_t + gamma phi_{t+1} - phi_t. phi has one more entry than rewards. At
// the task's own end the last potential must be 0, which Shape enforces where
// terminated; at a limit it stays. Then every return changes by -phi_t exactly.
func Shape(dst, rewards, phi []float64, gamma float64, terminated bool) {
	mustLen(len(dst) == len(rewards) && len(phi) == len(rewards)+1)
	for t := range rewards {
		next := phi[t+1]
		if terminated && t == len(rewards)-1 {
			next = 0
		}
		dst[t] = rewards[t] + gamma*next - phi[t]
	}
}

// MinForm turns process scores into rewards whose sum is close to their
// minimum: r_t = softmax(-s/T)_t * s_t (PURE, Cheng et al. 2025). The plain sum
// is farmed by many good steps around one bad one.
func MinForm(dst, scores []float64, temperature float64) {
	mustLen(len(dst) == len(scores))
	lo := math.Inf(1)
	for _, s := range scores {
		lo = min(lo, s)
	}
	sum := 0.0
	for i, s := range scores {
		dst[i] = math.Exp(-(s - lo) / temperature)
		sum += dst[i]
	}
	for i, s := range scores {
		dst[i] *= s / sum
	}
}

// OncePerEpisode pays each named event its weight the first time only.
func OncePerEpisode(events [][]string, weights map[string]float64) []float64 {
	seen := map[string]bool{}
	out := make([]float64, len(events))
	for t, names := range events {
		for _, n := range names {
			if !seen[n] {
				seen[n] = true
				out[t] += weights[n]
			}
		}
	}
	return out
}
