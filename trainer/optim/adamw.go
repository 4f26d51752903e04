package optim

import "math"

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
	if c.Decay != 0 {
		shrink := float32(1 - lr*c.Decay)
		for _, r := range a.decay {
			for i := r.Lo; i < r.Hi; i++ {
				params[i] *= shrink
			}
		}
	}
	b1, b2 := float32(c.Beta1), float32(c.Beta2)
	// The bias corrections are folded into two scalars so that the loop has
	// one division and one root per parameter.
	step := float32(lr / (1 - math.Pow(c.Beta1, float64(a.T))))
	root := float32(1 / math.Sqrt(1-math.Pow(c.Beta2, float64(a.T))))
	eps := float32(c.Eps)
	m, v := a.M, a.V
	for i, g := range grads {
		mi := b1*m[i] + (1-b1)*g
		vi := b2*v[i] + (1-b2)*g*g
		m[i], v[i] = mi, vi
		params[i] -= step * mi / (float32(math.Sqrt(float64(vi)))*root + eps)
	}
}

// GlobalNorm is the Euclidean norm of x, summed in float64 in index order.
func GlobalNorm(x []float32) float64 {
	s := 0.0
	for _, g := range x {
		s += float64(g) * float64(g)
	}
	return math.Sqrt(s)
}

// Clip scales grads by min(1, limit/(norm+1e-6)) and returns the norm before
// it. A limit of 0 only measures.
func Clip(grads []float32, limit float64) (norm float64) {
	norm = GlobalNorm(grads)
	if limit <= 0 {
		return norm
	}
	if f := limit / (norm + 1e-6); f < 1 {
		s := float32(f)
		for i := range grads {
			grads[i] *= s
		}
	}
	return norm
}
