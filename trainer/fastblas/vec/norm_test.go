package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// norm64 is LayerNorm, or RMSNorm without a bias, of one row in float64.
func norm64(x, gain, bias []float64, eps float64) []float64 {
	n, mean, sq := float64(len(x)), 0.0, 0.0
	if bias != nil {
		for _, v := range x {
			mean += v / n
		}
	}
	for _, v := range x {
		sq += (v - mean) * (v - mean) / n
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = (v - mean) / math.Sqrt(sq+eps) * gain[i]
		if bias != nil {
			y[i] += bias[i]
		}
	}
	return y
}

func widen(x []float32) []float64 {
	w := make([]float64, len(x))
	for i, v := range x {
		w[i] = float64(v)
	}
	return w
}

// difference is the central difference of f by *v.
func difference(v *float64, f func() float64) float64 {
	const h = 1e-5
	old := *v
	*v = old + h
	up := f()
	*v = old - h
	down := f()
	*v = old
	return (up - down) / (2 * h)
}

func TestNormsAgreeWithFloat64(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		for _, rms := range []bool{false, true} {
			rng := rand.New(rand.NewPCG(1, 2))
			for _, n := range []int{1, 2, 5, 8, 13, 16, 31, 64, 100} {
				checkNorm(t, rng, n, rms)
			}
		}
	})
}

func checkNorm(t *testing.T, rng *rand.Rand, n int, rms bool) {
	t.Helper()
	const rows, eps = 3, 0.01
	x, dy := random(rng, rows*n, false), random(rng, rows*n, false)
	gain, bias := random(rng, n, false), random(rng, n, false)
	mean, rstd := make([]float32, rows), make([]float32, rows)
	y, dx := newGuarded(rng, rows*n), newGuarded(rng, rows*n)
	dgain, dbias := newGuarded(rng, n), newGuarded(rng, n)
	for _, g := range []*guarded{dx, dgain, dbias} {
		for i := range g.slice() {
			g.slice()[i] = 0.5 // a backward pass adds
		}
	}
	wx, wg, wb := widen(x), widen(gain), widen(bias)
	if rms {
		wb = nil
		RMSNorm(y.slice(), rstd, x, gain, eps)
		RMSNormBackward(dx.slice(), dgain.slice(), dy, x, gain, rstd)
	} else {
		LayerNorm(y.slice(), mean, rstd, x, gain, bias, eps)
		LayerNormBackward(dx.slice(), dgain.slice(), dbias.slice(), dy, x, gain, mean, rstd)
	}
	for _, g := range []*guarded{y, dx, dgain, dbias} {
		g.check(t, "norm")
	}
	forward := func() (all []float64) {
		for r := range rows {
			all = append(all, norm64(wx[r*n:(r+1)*n], wg, wb, eps)...)
		}
		return all
	}
	for i, want := range forward() {
		expect(t, "norm", i, y.slice()[i], want, 1e-5, 1e-5)
	}
	loss := func() (s float64) {
		for i, v := range forward() {
			s += v * float64(dy[i])
		}
		return s
	}
	for i := range wx {
		expect(t, "dx", i, dx.slice()[i], 0.5+difference(&wx[i], loss), 1e-4, 1e-4)
	}
	for i := range n {
		expect(t, "dgain", i, dgain.slice()[i], 0.5+difference(&wg[i], loss), 1e-4, 1e-4)
		if !rms {
			expect(t, "dbias", i, dbias.slice()[i], 0.5+difference(&wb[i], loss), 1e-4, 1e-4)
		}
	}
}

func TestRoPE(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, h := range []int{1, 3, 8, 16, 21, 32} {
			cos, sin := make([]float32, h), make([]float32, h)
			RoPEAngles(cos, sin, 117, 10000)
			g := newGuarded(rng, 2*h)
			x := random(rng, 2*h, false)
			copy(g.slice(), x)
			RoPE(g.slice(), cos, sin)
			g.check(t, "RoPE")
			for i := range h {
				s, c := math.Sincos(117 * math.Pow(10000, -float64(i)/float64(h)))
				u, v := float64(x[i]), float64(x[h+i])
				size := math.Abs(u) + math.Abs(v)
				expect(t, "first", i, g.slice()[i], u*c-v*s, 0, 3e-7*size)
				expect(t, "second", i, g.slice()[h+i], v*c+u*s, 0, 3e-7*size)
			}
			RoPEBackward(g.slice(), cos, sin)
			for i, v := range g.slice() {
				expect(t, "back again", i, v, float64(x[i]), 0, 1e-6*(math.Abs(float64(x[i%h]))+math.Abs(float64(x[h+i%h]))))
			}
		}
	})
}

func TestAdamWAgreesWithFloat64(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		o := AdamW{LR: 0.01, Beta1: 0.9, Beta2: 0.95, Eps: 1e-8, WeightDecay: 0.1}
		for _, n := range []int{0, 1, 7, 8, 9, 64, 65} {
			p, m, v := newGuarded(rng, n), newGuarded(rng, n), newGuarded(rng, n)
			copy(p.slice(), random(rng, n, false))
			clear(m.slice())
			clear(v.slice())
			wp, wm, wv := widen(p.slice()), make([]float64, n), make([]float64, n)
			for step := 1; step <= 20; step++ {
				g := random(rng, n, false)
				o.Step(p.slice(), g, m.slice(), v.slice(), step, 0.5)
				for i := range g {
					d := 0.5 * float64(g[i])
					wm[i] = 0.9*wm[i] + 0.1*d
					wv[i] = 0.95*wv[i] + 0.05*d*d
					mh, vh := wm[i]/(1-math.Pow(0.9, float64(step))), wv[i]/(1-math.Pow(0.95, float64(step)))
					wp[i] -= o.LR*mh/(math.Sqrt(vh)+o.Eps) + o.LR*o.WeightDecay*wp[i]
				}
			}
			for _, s := range []*guarded{p, m, v} {
				s.check(t, "AdamW")
			}
			for i := range n {
				expect(t, "p", i, p.slice()[i], wp[i], 1e-5, 2e-6)
				expect(t, "m", i, m.slice()[i], wm[i], 1e-5, 1e-6)
				expect(t, "v", i, v.slice()[i], wv[i], 1e-5, 1e-6)
			}
		}
	})
}

// TestLengthsMustAgree is a shape error of the caller: it panics.
func TestLengthsMustAgree(t *testing.T) {
	x, y := make([]float32, 4), make([]float32, 5)
	for name, f := range map[string]func(){
		"Exp":     func() { Exp(x, y) },
		"Dot":     func() { Dot(x, y) },
		"Softmax": func() { Softmax(x, y, 1) },
		"norm":    func() { RMSNorm(x, y[:1], x, y, 1) },
		"AdamW":   func() { AdamW{}.Step(x, y, x, x, 1, 1) },
		"RoPE":    func() { RoPE(y, x[:2], x[:2]) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s with different lengths did not panic", name)
				}
			}()
			f()
		}()
	}
}
