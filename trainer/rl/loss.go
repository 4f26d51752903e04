package rl

import "math"

// maxLogRatio bounds a log-ratio before it is exponentiated, so that one
// absurd token cannot make an infinity. The policy-gradient libraries agree
// on 20.
const maxLogRatio = 20

// Ratio is rho = exp(logpNew-logpOld) with the exponent bounded.
func Ratio(logpNew, logpOld float64) float64 {
	return math.Exp(min(max(logpNew-logpOld, -maxLogRatio), maxLogRatio))
}

// Clip holds the bounds of a clipped loss. Low and High are distances from 1;
// PPO has them equal, DAPO has High above Low. Dual, if above 1, bounds the
// loss of tokens with negative advantage at Dual times the advantage.
type Clip struct {
	Low  float64
	High float64
	Dual float64
}

// Side says on which side a token was clipped.
type Side int8

// The sides.
const (
	Inside Side = iota
	ClippedLow
	ClippedHigh
	ClippedDual
)

// PPO is the clipped loss of one token, max(-A rho, -A clip(rho)), and its
// derivative with respect to logpNew. At exact ties the unclipped branch
// counts.
func PPO(adv, logpNew, logpOld float64, c Clip) (loss, grad float64, side Side) {
	rho := Ratio(logpNew, logpOld)
	loss, grad = -adv*rho, -adv*rho
	switch {
	case adv > 0 && rho > 1+c.High:
		return -adv * (1 + c.High), 0, ClippedHigh
	case adv < 0 && rho < 1-c.Low:
		return -adv * (1 - c.Low), 0, ClippedLow
	case adv < 0 && c.Dual > 1 && rho > c.Dual:
		return -adv * c.Dual, 0, ClippedDual
	}
	return loss, grad, Inside
}

// CISPO is -w A logpNew with the weight w = clip(rho, lo, hi) held constant:
// clipped tokens keep their gradient. lo and hi are absolute; lo <= 0 leaves
// the lower side open.
func CISPO(adv, logpNew, logpOld, lo, hi float64) (loss, grad, weight float64) {
	weight = min(Ratio(logpNew, logpOld), hi)
	if lo > 0 {
		weight = max(weight, lo)
	}
	return -weight * adv * logpNew, -weight * adv, weight
}

// Reinforce is -w A logpNew with a constant importance weight w.
func Reinforce(adv, logpNew, weight float64) (loss, grad float64) {
	return -weight * adv * logpNew, -weight * adv
}

// GSPO is the sequence-level clipped loss (Zheng et al. 2025): the ratio is the
// geometric mean over the chosen tokens. grad receives dLoss/dlogpNew for
// every token of the sequence: 0 where mask is false.
func GSPO(grad []float64, adv float64, logpNew, logpOld []float64, mask []bool, c Clip) (loss, ratio float64, side Side) {
	mustLen(len(grad) == len(logpNew) && len(logpNew) == len(logpOld) && len(mask) == len(logpNew))
	sum, n := 0.0, 0.0
	for i, m := range mask {
		if m {
			sum += logpNew[i] - logpOld[i]
			n++
		}
	}
	clear(grad)
	if n == 0 {
		return 0, 1, Inside
	}
	ratio = Ratio(sum/n, 0)
	loss, g, side := PPO(adv, math.Log(ratio), 0, c)
	for i, m := range mask {
		if m {
			grad[i] = g / n
		}
	}
	return loss, ratio, side
}

// Correction weighs the mismatch between the program that sampled and the
// program that trains, w = exp(logpOld-logpSampler), as a constant factor.
type Correction string

// The corrections.
const (
	CorrectNone     Correction = "none"
	CorrectTruncate Correction = "tis" // min(w, hi)
	CorrectMask     Correction = "mis" // w inside [lo, hi], else 0
)

// Weight is the factor of one token, or of one sequence if the log-ratio is
// summed over it.
func (c Correction) Weight(logpOld, logpSampler, lo, hi float64) float64 {
	w := Ratio(logpOld, logpSampler)
	switch c {
	case CorrectTruncate:
		return min(w, hi)
	case CorrectMask:
		if w < lo || w > hi {
			return 0
		}
		return w
	default:
		return 1
	}
}

// DPO is the loss of direct preference optimisation for a pair of sequence
// log-probabilities under the policy and the reference, and its derivative
// with respect to the chosen sequence's log-probability (the rejected one's is
// its negative).
func DPO(beta, chosen, rejected, refChosen, refRejected float64) (loss, gradChosen float64) {
	z := beta * ((chosen - rejected) - (refChosen - refRejected))
	return softplus(-z), -beta * sigmoid(-z)
}

// BradleyTerry is the loss of a difference of scores against a label: 1 where
// the first is better, 0 where the second is, 0.5 for a tie.
func BradleyTerry(diff, label float64) float64 {
	return label*softplus(-diff) + (1-label)*softplus(diff)
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
