package rl

import (
	"fmt"
	"math"
)

// KL names an estimator of KL(policy || reference) from one token, with
// d = logp - logpRef and rho the ratio to the policy that sampled.
//
// As a loss they differ: on-policy, the gradient of k2 and of rho*k3 is that of
// the reverse KL, the gradient of k3 is that of the forward KL, and the
// gradient of k1 is zero in expectation, so k1 is refused there.
type KL string

// The estimators.
const (
	K1   KL = "k1"    // d
	K2   KL = "k2"    // d^2/2
	K3   KL = "k3"    // exp(-d)-1+d
	K3IS KL = "k3_is" // rho*k3
)

// Value is the estimate of one token.
func (k KL) Value(logp, logpRef, rho float64) float64 {
	d := logp - logpRef
	switch k {
	case K1:
		return d
	case K2:
		return d * d / 2
	case K3:
		return math.Exp(-d) - 1 + d
	case K3IS:
		return rho * (math.Exp(-d) - 1 + d)
	}
	panic("rl: unknown KL estimator")
}

// Grad is the derivative of Value with respect to logp. For k3_is the ratio
// moves with logp too: rho*k3 + rho*(1-exp(-d)) = rho*d.
func (k KL) Grad(logp, logpRef, rho float64) float64 {
	d := logp - logpRef
	switch k {
	case K1:
		return 1
	case K2:
		return d
	case K3:
		return 1 - math.Exp(-d)
	case K3IS:
		return rho * d
	}
	panic("rl: unknown KL estimator")
}

// CheckLoss refuses an estimator that must not be used as a loss.
func (k KL) CheckLoss() error {
	switch k {
	case K2, K3, K3IS:
		return nil
	case K1:
		return fmt.Errorf("KL estimator k1 has a zero expected gradient as a loss: use k2 or k3_is")
	}
	return fmt.Errorf("unknown KL estimator %q: have k2, k3, k3_is", string(k))
}
