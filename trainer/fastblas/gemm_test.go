package fastblas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// problem is one random multiplication.
type problem struct {
	m, n, k       int
	ta, tb        bool
	lda, ldb, ldc int
	a, b, c       *guarded
	alpha         float32
}

func (p problem) String() string {
	return fmt.Sprintf("m=%d n=%d k=%d ta=%v tb=%v lda=%d ldb=%d ldc=%d", p.m, p.n, p.k, p.ta, p.tb, p.lda, p.ldb, p.ldc)
}

func newProblem(rng *rand.Rand, m, n, k int) problem {
	p := problem{m: m, n: n, k: k, ta: rng.IntN(2) == 0, tb: rng.IntN(2) == 0, alpha: 1}
	pad := func() int { return rng.IntN(2) * rng.IntN(20) }
	ra, ca, rb, cb := m, k, k, n
	if p.ta {
		ra, ca = k, m
	}
	if p.tb {
		rb, cb = n, k
	}
	p.lda, p.ldb, p.ldc = ca+pad(), cb+pad(), n+pad()
	p.a, p.b, p.c = matrix(rng, ra, ca, p.lda), matrix(rng, rb, cb, p.ldb), matrix(rng, m, n, p.ldc)
	return p
}

func (p problem) at(i, q, j int) (a, b float64) {
	x, y := p.a.slice(), p.b.slice()
	if p.ta {
		a = float64(x[q*p.lda+i])
	} else {
		a = float64(x[i*p.lda+q])
	}
	if p.tb {
		b = float64(y[j*p.ldb+q])
	} else {
		b = float64(y[q*p.ldb+j])
	}
	return a, b
}

// element is the plain loop in float64, and the sum of absolute values that
// bounds the rounding error.
func (p problem) element(i, j int) (sum, size float64) {
	for q := range p.k {
		a, b := p.at(i, q, j)
		sum += a * b
		size += math.Abs(a * b)
	}
	return float64(p.alpha) * sum, math.Abs(float64(p.alpha)) * size
}

// sizes are the edges of tiles, panels and blocks.
var sizes = []int{1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 97, 193, 255, 256, 257}

func pick(rng *rand.Rand, large bool) int {
	if large && rng.IntN(12) == 0 {
		return 500 + rng.IntN(700)
	}
	return sizes[rng.IntN(len(sizes))]
}

func TestGemmAgreesWithFloat64(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		budget := 3e7
		for n := 0; budget > 0; n++ {
			p := newProblem(rng, pick(rng, true), pick(rng, true), pick(rng, true))
			if p.m*p.n*p.k > 4e7 {
				continue
			}
			budget -= float64(p.m*p.n*p.k) + 1e5
			if rng.IntN(3) == 0 {
				p.alpha = float32(rng.NormFloat64())
			}
			checkProblem(t, rng, p)
		}
	})
}

// checkProblem multiplies, with a random epilogue, and compares a sample of
// the elements with the plain loop.
func checkProblem(t *testing.T, rng *rand.Rand, p problem) {
	t.Helper()
	var ep Epilogue
	var bias *guarded
	switch rng.IntN(3) {
	case 0:
		ep.Accumulate = true
	case 1:
		bias = matrix(rng, 1, p.n, p.n)
		ep.Bias = bias.slice()
	}
	before := append([]float32(nil), p.c.slice()...)
	Gemm(p.c.slice(), p.ldc, p.ta, p.a.slice(), p.lda, p.tb, p.b.slice(), p.ldb, p.m, p.n, p.k, p.alpha, ep, nil)
	p.c.gaps(t, p.String(), p.m, p.n, p.ldc)
	for s := 0; s < 120; s++ {
		i, j := rng.IntN(p.m), rng.IntN(p.n)
		want, size := p.element(i, j)
		if ep.Accumulate {
			want += float64(before[i*p.ldc+j])
		}
		if ep.Bias != nil {
			want += float64(ep.Bias[j])
		}
		// Half an ulp a step, in blocks of 256.
		tol := 6e-8*(size+math.Abs(want))*float64(min(p.k, 256)+4)/4 + 1e-30
		if got := float64(p.c.slice()[i*p.ldc+j]); !(math.Abs(got-want) <= tol) {
			t.Fatalf("%v: c[%d,%d] = %v, want %v within %g", p, i, j, got, want, tol)
		}
	}
}

// TestRowsDoNotDependOnTheBatch is the promise that lets a sampler and a
// trainer agree: whatever part of a batch is multiplied, by packed or plain
// weights, a row has the same bits.
func TestRowsDoNotDependOnTheBatch(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for range 20 {
			m, n, k := 1+rng.IntN(70), pick(rng, false), pick(rng, false)+rng.IntN(2)*300
			p := newProblem(rng, m, n, k)
			p.ta = false
			p.lda = k + rng.IntN(5)
			p.a = matrix(rng, m, k, p.lda)
			bias := matrix(rng, 1, n, n).slice()
			ep := Epilogue{Bias: bias, Act: Activation(rng.IntN(3))}
			whole := make([]float32, m*n)
			Gemm(whole, n, false, p.a.slice(), p.lda, p.tb, p.b.slice(), p.ldb, m, n, k, 1, ep, nil)
			packed := NewPacked(k, n)
			if p.tb {
				packed.PackTrans(p.b.slice(), p.ldb)
			} else {
				packed.Pack(p.b.slice(), p.ldb)
			}
			for range 8 {
				lo := rng.IntN(m)
				rows := 1 + rng.IntN(m-lo)
				part := matrix(rng, rows, n, n)
				a := moved(rng, p.a.slice()[lo*p.lda:], rows, k, p.lda)
				if rng.IntN(2) == 0 {
					GemmPacked(part.slice(), n, a, p.lda, packed, rows, ep, nil)
				} else {
					Gemm(part.slice(), n, false, a, p.lda, p.tb, p.b.slice(), p.ldb, rows, n, k, 1, ep, nil)
				}
				part.check(t, p.String())
				for i, v := range part.slice() {
					if !equalBits(v, whole[lo*n+i]) {
						t.Fatalf("%v: element %d of rows [%d,%d) is %x alone and %x in the batch", p, i, lo, lo+rows, math.Float32bits(v), math.Float32bits(whole[lo*n+i]))
					}
				}
			}
		}
	})
}

// moved copies a matrix to another alignment.
func moved(rng *rand.Rand, x []float32, r, c, ld int) []float32 {
	g := matrix(rng, r, c, ld)
	copy(g.slice(), x)
	return g.slice()
}

// TestZerosBeyondARowAddNothing lets attention multiply a causal block whose
// rows end in zeros: they have the bits of the shorter product.
func TestZerosBeyondARowAddNothing(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for range 50 {
			k, n := 1+rng.IntN(600), 16*(1+rng.IntN(4))
			short := 1 + rng.IntN(k)
			a, b := matrix(rng, 1, k, k).slice(), matrix(rng, k, n, n).slice()
			clear(a[short:])
			long, part := make([]float32, n), make([]float32, n)
			Gemm(long, n, false, a, k, false, b, n, 1, n, k, 1, Epilogue{}, nil)
			Gemm(part, n, false, a, k, false, b, n, 1, n, short, 1, Epilogue{}, nil)
			for j := range long {
				if !equalBits(long[j], part[j]) {
					t.Fatalf("k=%d short=%d: column %d is %v and %v", k, short, j, long[j], part[j])
				}
			}
		}
	})
}

// TestKernelsAreOneChain compares with the definition of the result: one chain
// of fused multiply-adds for each block of the inner index.
func TestKernelsAreOneChain(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		if Kernels() == "go" {
			t.Log("the Go kernels round every product, see TestGemmAgreesWithFloat64")
			return
		}
		rng := rand.New(rand.NewPCG(7, 8))
		for range 30 {
			m, n, k := 1+rng.IntN(30), 1+rng.IntN(70), 1+rng.IntN(700)
			p := newProblem(rng, m, n, k)
			c := make([]float32, m*n)
			Gemm(c, n, p.ta, p.a.slice(), p.lda, p.tb, p.b.slice(), p.ldb, m, n, k, 1, Epilogue{}, nil)
			for i := range m {
				for j := range n {
					if want := p.chain(i, j); !equalBits(c[i*n+j], want) {
						t.Fatalf("%v: c[%d,%d] = %v, want %v", p, i, j, c[i*n+j], want)
					}
				}
			}
		}
	})
}

func (p problem) chain(i, j int) float32 {
	var c, acc float32
	for q := range p.k {
		a, b := p.at(i, q, j)
		acc = fma32(float32(a), float32(b), acc)
		if q%256 == 255 || q == p.k-1 {
			c, acc = c+acc, 0
		}
	}
	return c
}

// fma32 is a*b+c rounded once: the product is exact in float64, and the sum is
// rounded there to odd, so that rounding it again to float32 does no harm.
func fma32(a, b, c float32) float32 {
	p, x := float64(a)*float64(b), float64(c)
	s := p + x
	// The error of the sum (Knuth): not zero where s was rounded.
	bb := s - p
	e := (p - (s - bb)) + (x - bb)
	if e != 0 && math.Float64bits(s)&1 == 0 {
		if (e > 0) == (s > 0) {
			s = math.Float64frombits(math.Float64bits(s) + 1)
		} else {
			s = math.Float64frombits(math.Float64bits(s) - 1)
		}
	}
	return float32(s)
}
