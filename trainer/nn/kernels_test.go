package nn

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The float64 instantiations are the definition; the float32 ones must agree
// with them on the same numbers whatever the sizes and the alignment, and must
// not write where they have no business.

const canary = 12345.5

// pair is the same random numbers in both precisions, the float32 ones at an
// odd place of a larger buffer that is filled with canaries.
type pair struct {
	f32   []float32
	f64   []float64
	whole []float32
	off   int
}

func newPair(rng *rand.Rand, n int) pair {
	off := 1 + rng.IntN(9)
	p := pair{whole: make([]float32, n+off+16), f64: make([]float64, n), off: off}
	for i := range p.whole {
		p.whole[i] = canary
	}
	p.f32 = p.whole[off : off+n : off+n]
	for i := range n {
		p.f32[i] = float32(rng.NormFloat64())
		p.f64[i] = float64(p.f32[i])
	}
	return p
}

// check compares the first n elements and looks after the canaries.
func (p pair) check(t *testing.T, what string, n int, tol float64) {
	t.Helper()
	for i := range n {
		if d := math.Abs(float64(p.f32[i]) - p.f64[i]); !(d <= tol*(1+math.Abs(p.f64[i]))) {
			t.Fatalf("%s: element %d is %g, want %g", what, i, p.f32[i], p.f64[i])
		}
	}
	for i, v := range p.whole {
		if (i < p.off || i >= p.off+len(p.f32)) && v != canary {
			t.Fatalf("%s: wrote outside, at %d", what, i-p.off)
		}
	}
}

func TestAttentionKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 400 {
		E, n := 8*(1+rng.IntN(6)), 1+rng.IntN(150)
		if rng.IntN(4) == 0 {
			E = 1 + rng.IntN(20)
		}
		R, ld := roundUp(n), E+rng.IntN(9)
		q, kp, s := newPair(rng, E), newPair(rng, R*E), newPair(rng, R)
		scores(s.f32, q.f32, kp.f32, n)
		scores(s.f64, q.f64, kp.f64, n)
		s.check(t, "scores", n, 1e-5)

		v, out := newPair(rng, (n-1)*ld+E), newPair(rng, E)
		mixRows(out.f32, s.f32, nil, 0, v.f32, n, ld)
		mixRows(out.f64, s.f64, nil, 0, v.f64, n, ld)
		out.check(t, "mixRows", E, 1e-4)
		if n0 := rng.IntN(n); n0 > 0 {
			whole := append([]float32(nil), out.f32...)
			mixRows(out.f32, s.f32, v.f32, n0, v.f32[n0*ld:], n-n0, ld)
			for i, w := range whole {
				if out.f32[i] != w {
					t.Fatalf("mixRows in two runs: element %d is %g, in one %g", i, out.f32[i], w)
				}
			}
		}

		a, b, c := newPair(rng, n), newPair(rng, n), newPair(rng, n)
		mulAdd(c.f32, a.f32, b.f32)
		mulAdd(c.f64, a.f64, b.f64)
		c.check(t, "mulAdd", n, 1e-5)
	}
}

// TestAttendIgnoresLaterKeys plants NaN in keys beyond the ones that count:
// the panels are computed whole, but what lies beyond must not come through.
func TestAttendIgnoresLaterKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const E = 16
	for n := 1; n <= 40; n++ {
		R := roundUp(n)
		q, kp, v, out, prob := newPair(rng, E), newPair(rng, R*E), newPair(rng, R*E), newPair(rng, E), newPair(rng, R)
		attend(out.f32, prob.f32, q.f32, keyRun[float32]{}, keyRun[float32]{kp.f32, v.f32, n}, E, 0.25)
		want := append([]float32(nil), out.f32...)
		nan := make([]float32, E)
		for i := range nan {
			nan[i] = float32(math.NaN())
		}
		for j := n; j < R; j++ {
			putPanels(kp.f32, j, nan, E, 1, E)
			copy(v.f32[j*E:], nan)
		}
		attend(out.f32, prob.f32, q.f32, keyRun[float32]{}, keyRun[float32]{kp.f32, v.f32, n}, E, 0.25)
		for i, w := range want {
			if out.f32[i] != w {
				t.Fatalf("%d keys: element %d is %g, was %g", n, i, out.f32[i], w)
			}
		}
	}
}

// TestProductsAgree compares the float32 products, packed or not, with the
// plain float64 ones, forward and transposed.
func TestProductsAgree(t *testing.T) {
	cfg := Config{Vocab: 37, Context: 8, Dim: 24, Layers: 2, Heads: 3, FF: 40, Activation: "swiglu"}
	m32, m64 := NewModel[float32](cfg, 1), NewModel[float64](cfg, 1)
	p32, p64 := m32.NewPacked(true), m64.NewPacked(true)
	for i := range 3 {
		p32.Pack(i, 3)
	}
	rng := rand.New(rand.NewPCG(5, 5))
	try := func(l, mat, rows, cols int) {
		for _, n := range []int{1, 5, 30} {
			a, c := newPair(rng, n*rows), newPair(rng, n*cols)
			p32.forward(nil, true, n, a.f32, l, mat, c.f32)
			p64.forward(nil, true, n, a.f64, l, mat, c.f64)
			c.check(t, "forward", n*cols, 1e-5)
			b, d := newPair(rng, n*cols), newPair(rng, n*rows)
			p32.backward(nil, n, b.f32, l, mat, d.f32)
			p64.backward(nil, n, b.f64, l, mat, d.f64)
			d.check(t, "backward", n*rows, 1e-5)
			g := newPair(rng, rows*cols)
			gemmTN(nil, true, rows, cols, n, a.f32, rows, c.f32, cols, g.f32, cols)
			gemmTN(nil, true, rows, cols, n, a.f64, rows, c.f64, cols, g.f64, cols)
			g.check(t, "weights", rows*cols, 1e-4)
		}
	}
	try(-1, 0, 24, 37)
	for l := range 2 {
		for mat := range matsPerLayer {
			_, rows, cols := m32.matrix(l, mat)
			try(l, mat, rows, cols)
		}
	}
}

// TestMimeticInit checks what the initialisation promises: queries equal keys,
// and the output undoes the values up to 0.7.
func TestMimeticInit(t *testing.T) {
	for _, kv := range []int{4, 2} {
		c := Config{Vocab: 5, Context: 4, Dim: 16, Layers: 1, Heads: 4, KVHeads: kv, Smear: true, Mimetic: true}.Resolved()
		m := NewModel[float64](c, 2)
		y := m.at.layer[0]
		w, wo := in(m.params, y.wqkv), in(m.params, y.wo)
		E, H, G := 4, 4, kv
		W := (H + 2*G) * E
		for i := range 16 {
			for g := range G {
				for e := range E {
					if w[i*W+g*(H/G)*E+e] != w[i*W+(H+g)*E+e] {
						t.Fatal("keys are not the queries of their first head")
					}
				}
			}
		}
		if kv != 4 {
			continue
		}
		// values times output is 0.7 times the identity.
		for i := range 16 {
			for j := range 16 {
				var s float64
				for k := range 16 {
					s += w[i*W+(H+G)*E+k] * wo[k*16+j]
				}
				want := 0.0
				if i == j {
					want = 0.7
				}
				if math.Abs(s-want) > 1e-9 {
					t.Fatalf("values times output: (%d,%d) is %g", i, j, s)
				}
			}
		}
	}
}
