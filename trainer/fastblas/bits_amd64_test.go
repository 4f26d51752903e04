//go:build amd64 && !purego

package fastblas

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAVX512HasTheBitsOfAVX2 multiplies matrices of all shapes, strides and
// kinds of number in all ways with both kernels. Even a NaN has the same bits.
func TestAVX512HasTheBitsOfAVX2(t *testing.T) {
	if choose() != avx512Kernels {
		t.Skip("this machine has no AVX-512; tools/avx512.sh runs the test in an emulator")
	}
	rng := rand.New(rand.NewPCG(9, 10))
	// Every number of rows meets every number of columns of up to 8 panels.
	for m := 1; m <= 26; m++ {
		for n := 1; n <= 130; n += 1 + rng.IntN(9) {
			bothBits(t, rng, m, n, 1+rng.IntN(20))
		}
	}
	for range 300 {
		bothBits(t, rng, pick(rng, false), pick(rng, false), pick(rng, false))
	}
}

// nans have different bits: which of two a multiply-add hands on depends on the
// order of its factors.
var nans = []float32{
	math.Float32frombits(0x7fc00001), math.Float32frombits(0xffc12345), math.Float32frombits(0x7fc54321), 0, 1,
}

// bothBits compares one multiplication.
func bothBits(t *testing.T, rng *rand.Rand, m, n, k int) {
	t.Helper()
	p := newProblem(rng, m, n, k)
	ra, ca, rb, cb := m, k, k, n
	if p.ta {
		ra, ca = k, m
	}
	if p.tb {
		rb, cb = n, k
	}
	values, density := nans, 1+rng.IntN(40)
	if i := rng.IntN(len(extremes) + 1); i < len(extremes) {
		values = extremes[i]
	}
	a, b := p.a.slice(), p.b.slice()
	sprinkle(rng, a, ra, ca, p.lda, values, density)
	sprinkle(rng, b, rb, cb, p.ldb, values, density)
	if rng.IntN(2) == 0 {
		p.alpha = float32(rng.NormFloat64())
	}
	ep := Epilogue{Accumulate: rng.IntN(2) == 0}
	if !ep.Accumulate {
		ep.Bias, ep.Act = matrix(rng, 1, n, n).slice(), Activation(rng.IntN(3))
	}
	before := p.c.slice()
	var results [2][]float32
	for i, name := range []string{"avx2", "avx512"} {
		restore := useKernels(name)
		results[i] = allWays(t, rng, p, a, b, before, ep)
		restore()
	}
	for i, v := range results[0] {
		if w := results[1][i]; !equalBits(v, w) {
			t.Fatalf("%v alpha=%v: element %d of all results is %x with AVX2 and %x with AVX-512", p, p.alpha, i, math.Float32bits(v), math.Float32bits(w))
		}
	}
}

// allWays multiplies by Gemm, by packed weights and by panels, and returns all
// results with the gaps between their rows.
func allWays(t *testing.T, rng *rand.Rand, p problem, a, b, before []float32, ep Epilogue) []float32 {
	t.Helper()
	var all []float32
	multiply := func(f func(c []float32)) {
		c := newGuarded(rng, len(before))
		copy(c.slice(), before)
		f(c.slice())
		c.gaps(t, p.String(), p.m, p.n, p.ldc)
		all = append(all, c.slice()...)
	}
	multiply(func(c []float32) {
		Gemm(c, p.ldc, p.ta, a, p.lda, p.tb, b, p.ldb, p.m, p.n, p.k, p.alpha, ep, nil)
	})
	packed, panels := NewPacked(p.k, p.n), make([]float32, roundUp(p.n)*p.k)
	rsA, csA := p.lda, 1
	if p.tb {
		packed.PackTrans(b, p.ldb)
		PackPanelsTrans(panels, b, p.ldb, p.k, p.n)
	} else {
		packed.Pack(b, p.ldb)
		PackPanels(panels, b, p.ldb, p.k, p.n)
	}
	if p.ta {
		rsA, csA = 1, p.lda
	} else {
		multiply(func(c []float32) { GemmPacked(c, p.ldc, a, p.lda, packed, p.m, ep, nil) })
	}
	multiply(func(c []float32) {
		GemmPanels(c, p.ldc, a, rsA, csA, panels, p.k*PanelWidth, p.m, p.n, p.k, ep.Accumulate)
	})
	return all
}
