package vec

import "math"

// AdamW is the setting of a step of Adam with decoupled weight decay.
type AdamW struct {
	LR, Beta1, Beta2, Eps, WeightDecay float64
}

// Step does step t, counted from 1, for the parameters p with gradients g and
// moments m and v. gscale multiplies the gradient first: the factor of a
// clipped norm, or 1. g stays as it is.
func (o AdamW) Step(p, g, m, v []float32, t int, gscale float32) {
	same(len(p), len(g), len(m), len(v))
	step := o.LR / (1 - math.Pow(o.Beta1, float64(t)))
	rsqrt2 := 1 / math.Sqrt(1-math.Pow(o.Beta2, float64(t)))
	keep := 1 - float64(o.LR*o.WeightDecay) // not fused anywhere
	if fast {
		adamwKernel(first(p), first(g), first(m), first(v), gscale,
			float32(o.Beta1), float32(1-o.Beta1), float32(o.Beta2), float32(1-o.Beta2),
			float32(step), float32(rsqrt2), float32(o.Eps), float32(keep), len(p))
		return
	}
	for i := range p {
		d := float64(g[i] * gscale)
		a := o.Beta1*float64(m[i]) + (1-o.Beta1)*d
		b := o.Beta2*float64(v[i]) + (1-o.Beta2)*d*d
		m[i], v[i] = float32(a), float32(b)
		p[i] = float32(keep*float64(p[i]) - step*a/(math.Sqrt(b)*rsqrt2+o.Eps))
	}
}
