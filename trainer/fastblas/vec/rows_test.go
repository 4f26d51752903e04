package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// sumTolerance bounds the rounding error of a float32 sum of n terms whose
// absolute values add up to size, when at least 8 lanes share it.
func sumTolerance(n int, size float64) float64 { return 6e-8*size*(float64(n)/8+8) + 1e-37 }

func TestReductionsAgreeWithFloat64(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, n := range lengths {
			x, y := random(rng, n, false), random(rng, n, false)
			var sum, size, dot, dsize, sq, dev float64
			top := math.Inf(-1)
			for i := range x {
				a, b := float64(x[i]), float64(y[i])
				sum += a
				size += math.Abs(a)
				dot += a * b
				dsize += math.Abs(a * b)
				sq += a * a
				dev += (a - 0.5) * (a - 0.5)
				top = max(top, a)
			}
			expect(t, "Sum", n, Sum(x), sum, 0, sumTolerance(n, size))
			expect(t, "Dot", n, Dot(x, y), dot, 0, sumTolerance(n, dsize))
			expect(t, "squaredDistance", n, squaredDistance(x, 0.5), dev, 0, sumTolerance(n, dev))
			expect(t, "Max", n, Max(x), top, 0, 0)
			if got := SumSquares(x); math.Abs(got-sq) > 1e-13*sq {
				t.Errorf("SumSquares of %d: got %v, want %v", n, got, sq)
			}
		}
	})
}

// TestReductionsDependOnLengthOnly moves a slice through all alignments.
func TestReductionsDependOnLengthOnly(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, n := range lengths[:21] {
			x, y := random(rng, n, false), random(rng, n, false)
			want := [5]float64{float64(Sum(x)), float64(Dot(x, y)), SumSquares(x), float64(Max(x)), float64(squaredDistance(x, 1))}
			for range 16 {
				a, b := newGuarded(rng, n), newGuarded(rng, n)
				copy(a.slice(), x)
				copy(b.slice(), y)
				u, v := a.slice(), b.slice()
				got := [5]float64{float64(Sum(u)), float64(Dot(u, v)), SumSquares(u), float64(Max(u)), float64(squaredDistance(u, 1))}
				if got != want {
					t.Fatalf("%d elements: %v in one place, %v in another", n, want, got)
				}
			}
		}
	})
}

func TestMaxOfSpecialValues(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		nan, inf := float32(math.NaN()), float32(math.Inf(1))
		for _, c := range []struct {
			x    []float32
			want float32
		}{
			{nil, -inf},
			{[]float32{nan}, -inf},
			{[]float32{nan, -3, nan}, -3},
			{[]float32{-inf, -inf}, -inf},
			{[]float32{1, 2, 3, 4, 5, 6, 7, 8, nan, nan, nan, nan, nan, nan, nan, nan, 7}, 8},
			{[]float32{-1, inf, nan}, inf},
			{[]float32{-1, -2, -3}, -1}, // no zero from the lanes that are not there
		} {
			if got := Max(c.x); got != c.want {
				t.Errorf("Max(%v) = %v, want %v", c.x, got, c.want)
			}
		}
	})
}

func softmax64(x []float32, scale float64) []float64 {
	top, sum := math.Inf(-1), 0.0
	for _, v := range x {
		top = max(top, scale*float64(v))
	}
	p := make([]float64, len(x))
	for i, v := range x {
		p[i] = math.Exp(scale*float64(v) - top)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

func TestSoftmax(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, n := range lengths[1:] {
			x := random(rng, n, false)
			if n > 2 {
				x[rng.IntN(n)] = float32(math.Inf(-1)) // a masked score
			}
			out := newGuarded(rng, n)
			Softmax(out.slice(), x, 0.7)
			out.check(t, "Softmax")
			p := softmax64(x, 0.7)
			for i, got := range out.slice() {
				expect(t, "Softmax", i, got, p[i], 6e-6, 1e-38)
			}
			dp, dx := random(rng, n, false), newGuarded(rng, n)
			SoftmaxBackward(dx.slice(), out.slice(), dp, 0.7)
			dx.check(t, "SoftmaxBackward")
			dot, size := 0.0, 0.0
			for i := range p {
				dot += p[i] * float64(dp[i])
				size += math.Abs(p[i] * float64(dp[i]))
			}
			for i, got := range dx.slice() {
				expect(t, "SoftmaxBackward", i, got, 0.7*p[i]*(float64(dp[i])-dot), 1e-5, 0.7*p[i]*1e-5*(1+size)+1e-37)
			}
		}
	})
}

// TestSoftmaxCausal checks rows of a block against rows alone, bit for bit.
func TestSoftmaxCausal(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 8))
		const rows, cols, ld, seen = 9, 37, 40, 30 // the last rows see all columns
		g := newGuarded(rng, (rows-1)*ld+cols)
		x := g.slice()
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		before := clone(x)
		SoftmaxCausal(x, ld, rows, cols, seen, 1.5)
		g.check(t, "SoftmaxCausal")
		dp := random(rng, len(x), false)
		back := clone(dp)
		SoftmaxCausalBackward(back, x, ld, rows, cols, seen, 1.5)
		for i := range rows {
			n := min(cols, seen+i+1)
			alone, dalone := make([]float32, n), make([]float32, n)
			Softmax(alone, before[i*ld:i*ld+n], 1.5)
			SoftmaxBackward(dalone, alone, dp[i*ld:i*ld+n], 1.5)
			for j := range ld {
				at := i*ld + j
				switch {
				case at >= len(x):
				case j < n:
					if x[at] != alone[j] || back[at] != dalone[j] {
						t.Fatalf("row %d column %d: %v and %v in the block, %v and %v alone", i, j, x[at], back[at], alone[j], dalone[j])
					}
				case j < cols:
					if x[at] != 0 || back[at] != 0 {
						t.Fatalf("row %d column %d is not zero", i, j)
					}
				case x[at] != before[at] || back[at] != dp[at]:
					t.Fatalf("gap at row %d column %d was overwritten", i, j)
				}
			}
		}
	})
}

// logProb64 is the plain formula: log-probability of target and entropy.
func logProb64(z []float64, scale float64, target int) (logp, entropy float64) {
	top, sum := math.Inf(-1), 0.0
	for _, v := range z {
		top = max(top, scale*v)
	}
	for _, v := range z {
		sum += math.Exp(scale*v - top)
	}
	for _, v := range z {
		l := scale*v - top - math.Log(sum)
		if p := math.Exp(l); p > 0 {
			entropy -= p * l
		}
	}
	return scale*z[target] - top - math.Log(sum), entropy
}

func TestLogProb(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 10))
		for _, n := range lengths[1:20] {
			for _, scale := range []float32{1, 1 / 0.7, 0.25} {
				z, target := random(rng, n, false), rng.IntN(n)
				if n > 4 {
					z[(target+1)%n] = float32(math.Inf(-1))
				}
				wide := make([]float64, n)
				for i, v := range z {
					wide[i] = float64(v)
				}
				logp, entropy := logProb64(wide, float64(scale), target)
				r := LogProb(z, scale, target)
				expect(t, "LogP", n, r.LogP, logp, 1e-6, 2e-6)
				expect(t, "Entropy", n, r.Entropy, entropy, 3e-6, 3e-6)

				dz := newGuarded(rng, n)
				LogProbBackward(dz.slice(), z, scale, target, r, 1.3, -0.4)
				dz.check(t, "LogProbBackward")
				loss := func() float64 {
					l, h := logProb64(wide, float64(scale), target)
					return 1.3*l - 0.4*h
				}
				for i := range z {
					const h = 1e-5
					v := wide[i]
					wide[i] = v + h
					up := loss()
					wide[i] = v - h
					want := (up - loss()) / (2 * h)
					wide[i] = v
					if math.IsInf(v, -1) {
						want = 0
					}
					expect(t, "LogProbBackward", i, dz.slice()[i], want, 1e-5, 1e-5)
				}
			}
		}
	})
}

// TestLogProbEqualsSoftmaxOfOne is the certain choice: probability one.
func TestLogProbEqualsSoftmaxOfOne(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		z := []float32{-200, 500, -300}
		r := LogProb(z, 1, 1)
		if r.LogP != 0 || r.Entropy != 0 {
			t.Errorf("a certain choice has log-probability %v and entropy %v, want 0 and 0", r.LogP, r.Entropy)
		}
	})
}

func TestRowsDoNotAllocate(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		x, y := make([]float32, 100), make([]float32, 100)
		mean, rstd := make([]float32, 1), make([]float32, 1)
		o := AdamW{LR: 1e-3, Beta1: 0.9, Beta2: 0.99, Eps: 1e-8}
		if n := testing.AllocsPerRun(10, func() {
			Softmax(y, x, 1)
			SoftmaxBackward(y, y, x, 1)
			r := LogProb(x, 1, 3)
			LogProbBackward(y, x, 1, 3, r, 1, 1)
			LayerNorm(y, mean, rstd, x, x, x, 1e-5)
			RMSNorm(y, rstd, x, x, 1e-5)
			GELU(y, x)
			o.Step(y, x, x, x, 1, 1)
			_ = SumSquares(x)
		}); n != 0 {
			t.Errorf("%v allocations, want none", n)
		}
	})
}
