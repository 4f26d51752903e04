package rl

import "math"

// GAE writes generalised advantage estimates (Schulman et al. 2016):
// delta_t = r_t + gamma V_{t+1} - V_t and A_t = delta_t + gamma lambda A_{t+1}.
// bootstrap is the value after the last entry: 0 where the task itself ended,
// V(s_T) where a limit cut the episode.
func GAE(dst, rewards, values []float64, bootstrap, gamma, lambda float64) {
	mustLen(len(dst) == len(rewards) && len(rewards) == len(values))
	next, a := bootstrap, 0.0
	for t := len(rewards) - 1; t >= 0; t-- {
		delta := rewards[t] + gamma*next - values[t]
		a = delta + gamma*lambda*a
		dst[t] = a
		next = values[t]
	}
}

// MaskedGAE is GAE over the tokens where mask is true, as if the observations
// between them were not there; elsewhere it writes 0.
func MaskedGAE(dst, rewards, values []float64, mask []bool, bootstrap, gamma, lambda float64) {
	mustLen(len(values) == len(mask))
	r, at := compress(rewards, mask)
	v := make([]float64, len(at))
	for k, i := range at {
		v[k] = values[i]
	}
	a := make([]float64, len(r))
	GAE(a, r, v, bootstrap, gamma, lambda)
	expand(dst, a, at)
}

// BilevelGAE estimates advantages of steps first and of their tokens within:
// a step-level GAE at the steps' last tokens gives each step a return, which is
// then the terminal reward of a token-level GAE inside the step. ends are the
// indices of the steps' last tokens; a step without reward is still a step.
func BilevelGAE(dst, values []float64, ends []int, stepRewards []float64, gammaStep, gammaToken, lambda float64) {
	mustLen(len(dst) == len(values) && len(ends) == len(stepRewards))
	v := make([]float64, len(ends))
	for k, e := range ends {
		v[k] = values[e]
	}
	adv := make([]float64, len(ends))
	GAE(adv, stepRewards, v, 0, gammaStep, lambda)
	start := 0
	for k, e := range ends {
		r := make([]float64, e-start+1)
		r[len(r)-1] = adv[k] + v[k]
		GAE(dst[start:e+1], r, values[start:e+1], 0, gammaToken, lambda)
		start = e + 1
	}
}

// Whiten shifts and scales the entries where mask is true to mean 0 and
// standard deviation 1 (n-1 in the denominator), with eps inside the root.
func Whiten(x []float64, mask []bool, eps float64) {
	mustLen(len(x) == len(mask))
	var kept []float64
	for i, m := range mask {
		if m {
			kept = append(kept, x[i])
		}
	}
	mean, std := MeanStd(kept, 1)
	inv := 1 / math.Sqrt(std*std+eps)
	for i, m := range mask {
		if m {
			x[i] = (x[i] - mean) * inv
		} else {
			x[i] = 0
		}
	}
}

// ValueLoss is the clipped value loss of PPO, half the mean of
// max((v-R)^2, (clip(v, vOld-c, vOld+c)-R)^2), and its gradient with respect to
// v. clip 0 switches the clipping off. frac is the share of clipped entries.
func ValueLoss(grad, v, vOld, returns []float64, clip float64) (loss, frac float64) {
	mustLen(len(grad) == len(v) && len(v) == len(vOld) && len(v) == len(returns))
	n := float64(len(v))
	for i := range v {
		e := v[i] - returns[i]
		l, g := e*e, e
		if clip > 0 {
			c := min(max(v[i], vOld[i]-clip), vOld[i]+clip)
			ec := c - returns[i]
			if ec*ec > l {
				l = ec * ec
				frac += 1 / n
				if c != v[i] {
					g = 0
				}
			}
		}
		loss += l / (2 * n)
		grad[i] = g / n
	}
	return loss, frac
}

// ExplainedVariance is 1 - Var(returns-values)/Var(returns), 0 where the
// returns do not vary.
func ExplainedVariance(values, returns []float64) float64 {
	d := make([]float64, len(values))
	for i := range d {
		d[i] = returns[i] - values[i]
	}
	_, sr := MeanStd(returns, 0)
	_, sd := MeanStd(d, 0)
	if sr == 0 {
		return 0
	}
	return 1 - sd*sd/(sr*sr)
}
