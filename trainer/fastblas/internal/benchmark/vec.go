package main

import (
	"fmt"
	"math"

	"github.com/proctor-rl/proctor/trainer/fastblas/vec"
)

// vec prints the table of the elementwise kernels on rows of 256.
func (b bench) vec() {
	const rows, n = 64, 256
	x, y, z, d := filled(rows*n), filled(rows*n), filled(rows*n), filled(rows*n)
	gain, bias := filled(n), filled(n)
	mean, rstd := make([]float32, rows), make([]float32, rows)
	each := func(f func(i int)) func() {
		return func() {
			for i := range rows {
				f(i * n)
			}
		}
	}
	o := vec.AdamW{LR: 1e-9, Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, WeightDecay: 0.01}
	r := vec.Row{Entropy: 1, LogZ: 5}
	fmt.Println("| kernel | ns an element |")
	fmt.Println("|---|---|")
	for _, k := range []struct {
		name string
		f    func()
	}{
		{"math.Exp, for comparison", each(func(i int) {
			for j := i; j < i+n; j++ {
				y[j] = float32(math.Exp(float64(x[j])))
			}
		})},
		{"Exp", each(func(i int) { vec.Exp(y[i:i+n], x[i:i+n]) })},
		{"Softmax", each(func(i int) { vec.Softmax(y[i:i+n], x[i:i+n], 1) })},
		{"SoftmaxBackward", each(func(i int) { vec.SoftmaxBackward(z[i:i+n], y[i:i+n], x[i:i+n], 1) })},
		{"LogProb", each(func(i int) { r.LogP = vec.LogProb(x[i:i+n], 1, 3).LogP })},
		{"LogProbBackward", each(func(i int) { vec.LogProbBackward(y[i:i+n], x[i:i+n], 1, 3, r, 1, 0.01) })},
		{"LayerNorm", func() { vec.LayerNorm(y, mean, rstd, x, gain, bias, 1e-5) }},
		{"LayerNormBackward", func() { vec.LayerNormBackward(z, d[:n], d[n:2*n], x, y, gain, mean, rstd); clear(z) }},
		{"RMSNorm", func() { vec.RMSNorm(y, rstd, x, gain, 1e-5) }},
		{"RMSNormBackward", func() { vec.RMSNormBackward(z, d[:n], x, y, gain, rstd); clear(z) }},
		{"GELU", func() { vec.GELU(y, x) }},
		{"GELUBackward", func() { vec.GELUBackward(y, z, x) }},
		{"SiLU", func() { vec.SiLU(y, x) }},
		{"SwiGLU", func() { vec.SwiGLU(y, x, z) }},
		{"SwiGLUBackward", func() { vec.SwiGLUBackward(y, d, z, x, z) }},
		{"AdamW", func() { o.Step(d, x, y, z, 3, 1) }},
		{"Axpy", each(func(i int) { vec.Axpy(y[i:i+n], 1e-9, x[i:i+n]) })},
		{"Dot", each(func(i int) { r.LogP = vec.Dot(x[i:i+n], x[i:i+n]) })},
	} {
		copy(y, x)
		clear(z)
		fmt.Printf("| %s | %.3f |\n", k.name, b.best(k.f)[0]*1e9/(rows*n))
	}
}
