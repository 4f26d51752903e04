package fastblas

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestProductsDoNotAllocate(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		const m, n, k = 13, 37, 70
		a, b, c := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
		bias, out := make([]float32, n), make([]float32, m*n)
		ws, p := NewWorkspace(), NewPacked(k, n)
		if got := testing.AllocsPerRun(10, func() {
			p.Pack(b, n)
			GemmPacked(c, n, a, k, p, m, Epilogue{Bias: bias, Act: GELU, Out: out, LdOut: n}, ws)
			Gemm(c, n, false, a, k, true, b, k, m, n, k, 1, Epilogue{Accumulate: true}, ws)
			Gemm(c, n, true, a, m, false, b, n, m, n, k, 1, Epilogue{}, ws)
		}); got != 0 {
			t.Errorf("%v allocations, want none", got)
		}
	})
}

// TestEpilogue compares fused bias and activation with separate passes.
func TestEpilogue(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for range 60 {
			m, n, k := 1+rng.IntN(30), pick(rng, false), pick(rng, false)
			a, b := matrix(rng, m, k, k).slice(), matrix(rng, n, k, k).slice()
			bias := matrix(rng, 1, n, n).slice()
			p := NewPacked(k, n)
			p.PackTrans(b, k)
			pre, ld := make([]float32, m*n), n+rng.IntN(4)
			GemmPacked(pre, n, a, k, p, m, Epilogue{Bias: bias}, nil)
			c, out := matrix(rng, m, n, n), matrix(rng, m, n, ld)
			act := Activation(1 + rng.IntN(2))
			GemmPacked(c.slice(), n, a, k, p, m, Epilogue{Bias: bias, Act: act, Out: out.slice(), LdOut: ld}, nil)
			out.gaps(t, "Out", m, n, ld)
			inPlace := make([]float32, m*n)
			GemmPacked(inPlace, n, a, k, p, m, Epilogue{Bias: bias, Act: act}, nil)
			for i := range m {
				for j := range n {
					x := float64(pre[i*n+j])
					want := x / (1 + math.Exp(-x))
					if act == GELU {
						want = x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
					}
					got := out.slice()[i*ld+j]
					if math.Abs(float64(got)-want) > 1e-6*(1+math.Abs(want)) {
						t.Fatalf("activation %d of %v is %v, want %v", act, x, got, want)
					}
					if !equalBits(c.slice()[i*n+j], pre[i*n+j]) || !equalBits(inPlace[i*n+j], got) {
						t.Fatalf("c[%d,%d]: kept %v of %v, in place %v, beside %v", i, j, c.slice()[i*n+j], pre[i*n+j], inPlace[i*n+j], got)
					}
				}
			}
		}
	})
}

// TestSpecialValues: infinities and NaN reach the elements whose sums they are
// in and no others, also through the filling of panels; denormal numbers
// count; what c held does not.
func TestSpecialValues(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		nan, inf := float32(math.NaN()), float32(math.Inf(1))
		rng := rand.New(rand.NewPCG(3, 4))
		for range 100 {
			p := newProblem(rng, 1+rng.IntN(20), 1+rng.IntN(40), 1+rng.IntN(300))
			x := p.a.slice()
			for i := range x {
				if x[i] != canary && rng.IntN(len(x)) < 2 {
					x[i] = []float32{nan, inf, -inf, math.MaxFloat32, 1e-44}[rng.IntN(5)]
				}
			}
			y := p.b.slice()
			for i := range y {
				if y[i] != canary && rng.IntN(len(y)) < 2 {
					y[i] = []float32{nan, inf, -inf, 0, 1e-44}[rng.IntN(5)]
				}
			}
			c := p.c.slice()
			for i := range p.m {
				for j := range p.n {
					c[i*p.ldc+j] = nan
				}
			}
			Gemm(c, p.ldc, p.ta, x, p.lda, p.tb, y, p.ldb, p.m, p.n, p.k, 1, Epilogue{}, nil)
			p.c.gaps(t, p.String(), p.m, p.n, p.ldc)
			for i := range p.m {
				for j := range p.n {
					want, size := p.element(i, j)
					got := float64(c[i*p.ldc+j])
					if size > math.MaxFloat32/4 && !math.IsNaN(want) && !math.IsInf(want, 0) {
						continue // may overflow on the way
					}
					switch {
					case math.IsNaN(want):
						if !math.IsNaN(got) {
							t.Fatalf("%v: c[%d,%d] = %v, want NaN", p, i, j, got)
						}
					case math.IsInf(want, 0):
						if got != want && !(math.IsNaN(got) && hasHuge(x)) {
							t.Fatalf("%v: c[%d,%d] = %v, want %v", p, i, j, got, want)
						}
					case !(math.Abs(got-want) <= 6e-8*(size+math.Abs(want))*70+1e-44):
						t.Fatalf("%v: c[%d,%d] = %v, want %v", p, i, j, got, want)
					}
				}
			}
		}
	})
}

// hasHuge: the largest number may overflow to one infinity before the other
// comes.
func hasHuge(x []float32) bool {
	for _, v := range x {
		if v == math.MaxFloat32 {
			return true
		}
	}
	return false
}

func TestDenormalsCount(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		a, b, c := []float32{1e-40, 1e-40}, []float32{1, 1}, []float32{0}
		Gemm(c, 1, false, a, 2, true, b, 2, 1, 1, 2, 1, Epilogue{}, nil)
		if want := a[0] + a[1]; c[0] != want {
			t.Errorf("1e-40 + 1e-40 = %v, want %v", c[0], want)
		}
	})
}

func TestWrongShapesPanic(t *testing.T) {
	x := make([]float32, 12)
	for name, f := range map[string]func(){
		"short a":      func() { Gemm(x, 4, false, x[:11], 4, false, x, 4, 3, 4, 4, 1, Epilogue{}, nil) },
		"short b":      func() { Gemm(x, 4, false, x, 4, true, x[:8], 4, 3, 4, 4, 1, Epilogue{}, nil) },
		"short c":      func() { Gemm(x[:11], 4, false, x, 2, false, x, 4, 3, 4, 2, 1, Epilogue{}, nil) },
		"ld":           func() { Gemm(x, 3, false, x, 2, false, x, 4, 3, 4, 2, 1, Epilogue{}, nil) },
		"negative":     func() { Gemm(x, 4, false, x, 2, false, x, 4, -1, 4, 2, 1, Epilogue{}, nil) },
		"bias":         func() { Gemm(x, 4, false, x, 2, false, x, 4, 3, 4, 2, 1, Epilogue{Bias: x[:3]}, nil) },
		"bias and add": func() { Gemm(x, 4, false, x, 2, false, x, 4, 3, 4, 2, 1, Epilogue{Bias: x[:4], Accumulate: true}, nil) },
		"packed":       func() { NewPacked(4, 4).Pack(x, 4) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}
