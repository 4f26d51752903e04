package vec

import "math"

// result is one number that a function returned or wrote.
type result struct {
	of   string
	bits uint64
	nan  bool
}

// everything runs all functions on slices of n elements that in makes and
// returns what they return and write.
func everything(in func() []float32, n, target int) (all []result) {
	keep := func(of string, slices ...[]float32) {
		for _, s := range slices {
			for _, v := range s {
				all = append(all, result{of, uint64(math.Float32bits(v)), v != v})
			}
		}
	}
	for _, k := range elementwise {
		dst := in()
		k.run(dst, [][]float32{in(), in()})
		keep(k.name, dst)
	}
	x, y, z, u, v := in(), in(), in(), in(), in()
	keep("Sum", []float32{Sum(x)})
	keep("Dot", []float32{Dot(x, y)})
	keep("Max", []float32{Max(x)})
	keep("squaredDistance", []float32{squaredDistance(x, 0.7)})
	s := SumSquares(x)
	all = append(all, result{"SumSquares", math.Float64bits(s), s != s})
	SwiGLUBackward(x, y, z, u, v)
	keep("SwiGLUBackward", x, y)
	if n == 0 {
		return all
	}
	p := in()
	Softmax(x, p, 0.8)
	keep("Softmax", x)
	SoftmaxBackward(y, x, p, 1.3)
	keep("SoftmaxBackward", y)
	r := LogProb(p, 0.8, target)
	keep("LogProb", []float32{r.LogP, r.Entropy, r.LogZ})
	LogProbBackward(z, p, 0.8, target, r, 1.3, -0.4)
	keep("LogProbBackward", z)
	mean, rstd := make([]float32, 1), make([]float32, 1)
	LayerNorm(x, mean, rstd, p, u, v, 1e-5)
	keep("LayerNorm", x, mean, rstd)
	LayerNormBackward(y, z, in(), x, p, u, mean, rstd)
	keep("LayerNormBackward", y, z)
	RMSNorm(x, rstd, p, u, 1e-5)
	keep("RMSNorm", x, rstd)
	RMSNormBackward(y, z, x, p, u, rstd)
	keep("RMSNormBackward", y, z)
	cos, sin := in(), in()
	head := append(in(), p...)
	RoPE(head, cos, sin)
	keep("RoPE", head)
	RoPEBackward(head, cos, sin)
	keep("RoPEBackward", head)
	AdamW{LR: 0.01, Beta1: 0.9, Beta2: 0.95, Eps: 1e-8, WeightDecay: 0.1}.Step(x, y, z, u, 3, 0.5)
	keep("AdamW", x, y, z, u)
	return all
}
