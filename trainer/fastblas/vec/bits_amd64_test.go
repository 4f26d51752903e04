//go:build amd64 && !purego

package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAVX512HasTheBitsOfAVX2 runs every function on slices of all lengths, with
// special values and without, with both kinds of assembly. Even a NaN has the
// same bits.
func TestAVX512HasTheBitsOfAVX2(t *testing.T) {
	if !avx512 {
		t.Skip("this machine has no AVX-512; tools/avx512.sh runs the test in an emulator")
	}
	lengths := append([]int{250, 1000, 4099}, lengths[:20]...)
	for n := range 140 {
		lengths = append(lengths, n)
	}
	for i, n := range lengths {
		for _, mixed := range []bool{false, true} {
			seed := uint64(i)
			wide := everything(rand.New(rand.NewPCG(seed, 1)), n, mixed)
			t.Run("", func(t *testing.T) {
				withoutAVX512(t)
				for j, v := range everything(rand.New(rand.NewPCG(seed, 1)), n, mixed) {
					if w := wide[j]; math.Float64bits(v) != math.Float64bits(w) {
						t.Fatalf("%d elements, special %v: result %d is %x with AVX2 and %x with AVX-512", n, mixed, j, v, w)
					}
				}
			})
		}
	}
}

// everything runs all functions on slices of n elements and returns what they
// return and write.
func everything(rng *rand.Rand, n int, mixed bool) (all []float64) {
	in := func() []float32 { return random(rng, n, mixed) }
	keep := func(slices ...[]float32) {
		for _, s := range slices {
			for _, v := range s {
				all = append(all, bitsOf(v))
			}
		}
	}
	for _, k := range elementwise {
		dst := in()
		k.run(dst, [][]float32{in(), in()})
		keep(dst)
	}
	x, y, z, u, v := in(), in(), in(), in(), in()
	keep([]float32{Sum(x), Dot(x, y), Max(x), squaredDistance(x, 0.7)})
	all = append(all, SumSquares(x))
	SwiGLUBackward(x, y, z, u, v)
	keep(x, y)
	if n == 0 {
		return all
	}
	p, target := in(), rng.IntN(n)
	Softmax(x, p, 0.8)
	SoftmaxBackward(y, x, p, 1.3)
	r := LogProb(p, 0.8, target)
	LogProbBackward(z, p, 0.8, target, r, 1.3, -0.4)
	keep(x, y, z, []float32{r.LogP, r.Entropy, r.LogZ})
	mean, rstd := make([]float32, 1), make([]float32, 1)
	LayerNorm(x, mean, rstd, p, u, v, 1e-5)
	LayerNormBackward(y, z, in(), x, p, u, mean, rstd)
	keep(x, y, z, mean, rstd)
	RMSNorm(x, rstd, p, u, 1e-5)
	RMSNormBackward(y, z, x, p, u, rstd)
	keep(x, y, z, rstd)
	cos, sin := in(), in()
	head := append(in(), p...)
	RoPE(head, cos, sin)
	keep(head)
	RoPEBackward(head, cos, sin)
	keep(head)
	AdamW{LR: 0.01, Beta1: 0.9, Beta2: 0.95, Eps: 1e-8, WeightDecay: 0.1}.Step(x, y, z, u, 3, 0.5)
	keep(x, y, z, u)
	return all
}

// bitsOf is a number that has the bits of v in it, also those of a NaN.
func bitsOf(v float32) float64 { return float64(math.Float32bits(v)) }
