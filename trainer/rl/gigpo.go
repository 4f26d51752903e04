package rl

// AnchorAdvantages are the step advantages of GiGPO (Feng et al. 2025): the
// steps of a group's trajectories that began in the same state form an anchor
// group, and each is compared with the others there. keys[i][t] names the state
// before step t of trajectory i, returns[i][t] its discounted return. Where
// std is true they are divided by the anchor group's deviation (n-1) + eps.
// A state seen once has advantage 0.
func AnchorAdvantages(keys [][]string, returns [][]float64, std bool, eps float64) [][]float64 {
	mustLen(len(keys) == len(returns))
	anchors := map[string][]float64{}
	for i := range keys {
		mustLen(len(keys[i]) == len(returns[i]))
		for t, k := range keys[i] {
			anchors[k] = append(anchors[k], returns[i][t])
		}
	}
	out := make([][]float64, len(keys))
	for i := range keys {
		out[i] = make([]float64, len(keys[i]))
		for t, k := range keys[i] {
			g := anchors[k]
			if len(g) < 2 {
				continue
			}
			mean, s := MeanStd(g, 1)
			out[i][t] = returns[i][t] - mean
			if std {
				out[i][t] /= s + eps
			}
		}
	}
	return out
}

// StepIndexAdvantages compare step t of each trajectory with step t of the
// others. It is cheap, and wrong where equal indices mean different states.
func StepIndexAdvantages(returns [][]float64) [][]float64 {
	longest := 0
	for _, r := range returns {
		longest = max(longest, len(r))
	}
	out := make([][]float64, len(returns))
	for i, r := range returns {
		out[i] = make([]float64, len(r))
	}
	for t := range longest {
		sum, n := 0.0, 0.0
		for _, r := range returns {
			if t < len(r) {
				sum += r[t]
				n++
			}
		}
		for i, r := range returns {
			if t < len(r) {
				out[i][t] = r[t] - sum/n
			}
		}
	}
	return out
}
