package optim

import (
	"math"

	"github.com/proctor-rl/proctor/trainer/fastblas/vec"
)

// Range is a half-open range of the flat parameter vector.
type Range struct{ Lo, Hi int }

// AdamConfig are the constants of AdamW.
type AdamConfig struct {
	Beta1 float64
	Beta2 float64
	Eps   float64
	Decay float64 // decoupled weight decay, applied to the decay ranges only
}

// AdamW is the optimizer of Loshchilov and Hutter (2019):
//
//	m = b1 m + (1-b1) g
//	v = b2 v + (1-b2) g^2
//	p = p - lr (m/(1-b1^t)) / (sqrt(v/(1-b2^t)) + eps) - lr decay p
//
// Its state is exported so that a checkpoint can hold it.
type AdamW struct {
	Config AdamConfig
	M, V   []float32
	T      int // updates made so far

	decay []Range
}

// NewAdamW is an optimizer for n parameters of which the given ranges decay.
func NewAdamW(n int, cfg AdamConfig, decay []Range) *AdamW {
	return &AdamW{Config: cfg, M: make([]float32, n), V: make([]float32, n), decay: decay}
}

// Update makes one update of params from grads with the given learning rate.
// All three vectors have the length given to NewAdamW.
func (a *AdamW) Update(params, grads []float32, lr float64) {
	if len(params) != len(a.M) || len(grads) != len(a.M) {
		panic("optim: lengths differ")
	}
	a.T++
	c := a.Config
	step := func(lo, hi int, decay float64) {
		vec.AdamW{LR: lr, Beta1: c.Beta1, Beta2: c.Beta2, Eps: c.Eps, WeightDecay: decay}.
			Step(params[lo:hi], grads[lo:hi], a.M[lo:hi], a.V[lo:hi], a.T, 1)
	}
	at := 0
	for _, r := range a.decay {
		step(at, r.Lo, 0)
		step(r.Lo, r.Hi, c.Decay)
		at = r.Hi
	}
	step(at, len(params), 0)
}

// GlobalNorm is the Euclidean norm of x, summed in float64.
func GlobalNorm(x []float32) float64 { return math.Sqrt(vec.SumSquares(x)) }

// Clip scales grads by min(1, limit/(norm+1e-6)) and returns the norm before
// it. A limit of 0 only measures.
func Clip(grads []float32, limit float64) (norm float64) {
	norm = GlobalNorm(grads)
	if limit <= 0 {
		return norm
	}
	if f := limit / (norm + 1e-6); f < 1 {
		vec.Scale(grads, float32(f), grads)
	}
	return norm
}
