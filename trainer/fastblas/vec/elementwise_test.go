package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// elementwise lists every kernel without a reduction as a function of its
// inputs at one place. in[0] is what dst held before.
var elementwise = []struct {
	name     string
	inputs   int // beside dst
	run      func(dst []float32, in [][]float32)
	want     func(in []float64) float64
	rel, abs float64
	tame     bool // the plain formula itself fails on huge inputs
}{
	{
		name: "Exp", inputs: 1, rel: 2e-7, abs: 1.5e-45,
		run:  func(d []float32, in [][]float32) { Exp(d, in[0]) },
		want: func(in []float64) float64 { return math.Exp(in[1]) },
	},
	{
		name: "Add", inputs: 1, rel: 6e-8,
		run:  func(d []float32, in [][]float32) { Add(d, in[0]) },
		want: func(in []float64) float64 { return in[0] + in[1] },
	},
	{
		name: "Mul", inputs: 2, rel: 6e-8, abs: 1.5e-45,
		run:  func(d []float32, in [][]float32) { Mul(d, in[0], in[1]) },
		want: func(in []float64) float64 { return in[1] * in[2] },
	},
	{
		name: "Scale", inputs: 1, rel: 6e-8, abs: 1.5e-45,
		run:  func(d []float32, in [][]float32) { Scale(d, -0.75, in[0]) },
		want: func(in []float64) float64 { return -0.75 * in[1] },
	},
	{
		name: "Axpy", inputs: 1, rel: 2e-7, abs: 2e-7, tame: true,
		run:  func(d []float32, in [][]float32) { Axpy(d, 1.5, in[0]) },
		want: func(in []float64) float64 { return in[0] + 1.5*in[1] },
	},
	{
		name: "GELU", inputs: 1, rel: 1e-6, abs: 3e-7,
		run:  func(d []float32, in [][]float32) { GELU(d, in[0]) },
		want: func(in []float64) float64 { return gelu(in[1]) },
	},
	{
		name: "GELUBackward", inputs: 2, rel: 2e-6, abs: 2e-6, tame: true,
		run:  func(d []float32, in [][]float32) { GELUBackward(d, in[0], in[1]) },
		want: func(in []float64) float64 { return in[1] * slope(gelu, in[2]) },
	},
	{
		name: "SiLU", inputs: 1, rel: 1e-6, abs: 1e-9,
		run:  func(d []float32, in [][]float32) { SiLU(d, in[0]) },
		want: func(in []float64) float64 { return silu(in[1]) },
	},
	{
		name: "SiLUBackward", inputs: 2, rel: 2e-6, abs: 2e-6, tame: true,
		run:  func(d []float32, in [][]float32) { SiLUBackward(d, in[0], in[1]) },
		want: func(in []float64) float64 { return in[1] * slope(silu, in[2]) },
	},
	{
		name: "SwiGLU", inputs: 2, rel: 1e-6, abs: 1e-9, tame: true,
		run:  func(d []float32, in [][]float32) { SwiGLU(d, in[0], in[1]) },
		want: func(in []float64) float64 { return silu(in[1]) * in[2] },
	},
}

func gelu(x float64) float64 {
	return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

func silu(x float64) float64 { return x / (1 + math.Exp(-x)) }

// slope is the central difference of f.
func slope(f func(float64) float64, x float64) float64 {
	const h = 1e-4
	return (8*(f(x+h)-f(x-h)) - (f(x+2*h) - f(x-2*h))) / (12 * h)
}

func TestElementwiseAgreesWithFloat64(t *testing.T) {
	for _, k := range elementwise {
		t.Run(k.name, func(t *testing.T) {
			bothKernels(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, 2))
				for _, n := range lengths {
					for range 1 + 300/(n+10) {
						mixed := !k.tame && rng.IntN(2) == 0
						dst := newGuarded(rng, n)
						copy(dst.slice(), random(rng, n, mixed))
						in := [][]float32{clone(dst.slice())}
						for range k.inputs {
							in = append(in, random(rng, n, mixed))
						}
						k.run(dst.slice(), in[1:])
						dst.check(t, k.name)
						for i, got := range dst.slice() {
							at := make([]float64, len(in))
							for j := range in {
								at[j] = float64(in[j][i])
							}
							if w := k.want(at); !near(got, w, k.rel, k.abs*(1+math.Abs(at[1]))) {
								t.Fatalf("%v of %v at %d of %d: got %v, want %v", k.name, at, i, n, got, w)
							}
						}
					}
				}
			})
		})
	}
}

// TestElementwiseDoesNotDependOnThePlace runs the kernels on parts of a slice,
// at other alignments: the bits stay.
func TestElementwiseDoesNotDependOnThePlace(t *testing.T) {
	for _, k := range elementwise {
		t.Run(k.name, func(t *testing.T) {
			bothKernels(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(3, 4))
				n := 203
				before := random(rng, n, true)
				in := [][]float32{random(rng, n, true), random(rng, n, true)}
				whole := clone(before)
				k.run(whole, in)
				for range 60 {
					lo := rng.IntN(n)
					hi := lo + rng.IntN(n-lo+1)
					part := newGuarded(rng, hi-lo)
					copy(part.slice(), before[lo:hi])
					k.run(part.slice(), [][]float32{in[0][lo:hi], in[1][lo:hi]})
					for i, v := range part.slice() {
						w := whole[lo+i]
						if math.Float32bits(v) != math.Float32bits(w) && !(v != v && w != w) {
							t.Fatalf("element %d of [%d,%d): %v alone, %v in the whole", i, lo, hi, v, w)
						}
					}
				}
			})
		})
	}
}

// TestExpEverywhere walks through all exponents and the edges of the range.
func TestExpEverywhere(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		var x []float32
		for b := uint32(0); b < 1<<32-40009; b += 40009 {
			x = append(x, math.Float32frombits(b))
		}
		for v := float32(-105); v < 90; v += 0.0017 {
			x = append(x, v)
		}
		y := make([]float32, len(x))
		Exp(y, x)
		worst := 0.0
		for i, v := range x {
			want := math.Exp(float64(v))
			if !near(y[i], want, 2e-7, 1.5e-45) {
				t.Fatalf("exp(%v) = %v, want %v", v, y[i], want)
			}
			if want > 1.2e-38 && want < 3.4e38 {
				worst = max(worst, math.Abs(float64(y[i])/want-1))
			}
		}
		t.Logf("largest relative error %.2g", worst)
	})
}

func TestSlopesAtTheEnds(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		inf := float32(math.Inf(1))
		x := []float32{1e20, -1e20, math.MaxFloat32, -math.MaxFloat32, inf, -inf, 50, -50, 250, -250}
		for name, back := range map[string]func(d, dy, x []float32){"GELU": GELUBackward, "SiLU": SiLUBackward} {
			for i, v := range x {
				want := float32(0)
				if v > 0 {
					want = 3
				}
				got := []float32{0}
				back(got, []float32{3}, x[i:i+1])
				if got[0]-want > 1e-15 || want-got[0] > 1e-15 {
					t.Errorf("slope of %s at %v: got %v, want %v", name, v, got[0], want)
				}
			}
		}
	})
}

func TestSwiGLUBackward(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, n := range lengths[:20] {
			dg, du := newGuarded(rng, n), newGuarded(rng, n)
			dy, g, u := random(rng, n, false), random(rng, n, false), random(rng, n, false)
			SwiGLUBackward(dg.slice(), du.slice(), dy, g, u)
			dg.check(t, "dgate")
			du.check(t, "dup")
			for i := range n {
				x, d := float64(g[i]), float64(dy[i])
				expect(t, "dgate", i, dg.slice()[i], d*float64(u[i])*slope(silu, x), 3e-6, 2e-6*(1+math.Abs(d*float64(u[i]))))
				expect(t, "dup", i, du.slice()[i], d*silu(x), 1e-6, 1e-9*(1+math.Abs(d)))
			}
		}
	})
}
