package nn

import (
	"math/rand/v2"
	"testing"
)

// FuzzAttention computes one head of any shape, forward and backward, with some
// of its queries asked for: in float32 against float64, and every row of the
// forward pass bit for bit against the one that decoding computes.
func FuzzAttention(f *testing.F) {
	for i, T := range []uint8{1, 5, 17, 48, 49, 100, 150} {
		f.Add(uint64(i), T, uint8(32), uint8(i))
		f.Add(uint64(i), T, uint8(1+5*i), uint8(3))
	}
	f.Fuzz(func(t *testing.T, seed uint64, length, width, asked uint8) {
		rng := rand.New(rand.NewPCG(seed, 5))
		T, E := 1+int(length)%160, 1+int(width)%48
		R := roundUp(T)
		ldq, ldv, ldo := E+rng.IntN(9), E+rng.IntN(9), E+rng.IntN(9)
		var rows []int32
		for i := range T {
			if asked == 0 || rng.IntN(1+int(asked)%4) == 0 || i == T-1 {
				rows = append(rows, int32(7+i))
			}
		}
		n := len(rows)
		q, k, v := newPair(rng, T*ldq), newPair(rng, T*ldq), newPair(rng, T*ldv)
		o, prob, dout := newPair(rng, n*ldo), newPair(rng, n*R), newPair(rng, n*ldo)
		dq, dk, dv := newPair(rng, T*ldq), newPair(rng, T*ldq), newPair(rng, T*ldv)

		h32 := headRun[float32]{
			T: T, lo: 7, rows: rows, q: q.f32, ldq: ldq, o: o.f32, ldo: ldo, prob: prob.f32, factor: 0.3, width: E,
			tmp: make([]float32, headSpace(T, E)), dq: dq.f32, dk: dk.f32, dv: dv.f32, ldv: ldv, dout: dout.f32,
			own: make([]float32, panelSpace(T, E)),
		}
		h64 := headRun[float64]{
			T: T, lo: 7, rows: rows, q: q.f64, ldq: ldq, o: o.f64, ldo: ldo, prob: prob.f64, factor: 0.3, width: E,
			tmp: make([]float64, headSpace(T, E)), dq: dq.f64, dk: dk.f64, dv: dv.f64, ldv: ldv, dout: dout.f64,
			own: make([]float64, panelSpace(T, E)),
		}
		keys := bothWays(h32, k.f32, v.f32)
		bothWays(h64, k.f64, v.f64)
		o.check(t, "output", n*ldo, 1e-4)
		dq.check(t, "queries", T*ldq, 1e-3)
		dk.check(t, "keys", T*ldq, 1e-3)
		dv.check(t, "values", T*ldv, 1e-3)
		prob.check(t, "scores", 0, 0)

		out, p := make([]float32, E), make([]float32, R)
		for i, row := range rows {
			at := int(row) - 7
			attend(out, p, q.f32[at*ldq:at*ldq+E], keyRun[float32]{}, keyRun[float32]{keys, v.f32, at + 1}, ldv, 0.3)
			for e, w := range out {
				if got := o.f32[i*ldo+e]; got != w {
					t.Fatalf("query %d, element %d: %g in training, %g in decoding", at, e, got, w)
				}
			}
		}
	})
}

// bothWays runs h forward and backward and returns the keys in panels.
func bothWays[F Float](h headRun[F], k, v []F) []F {
	keys, values, other := make([]F, panelSpace(h.T, h.width)), make([]F, panelSpace(h.T, h.width)), make([]F, panelSpace(h.T, h.width))
	packPanelsTrans(keys, k, h.ldq, h.width, h.T)
	packPanels(values, v, h.ldv, h.T, h.width)
	h.forward(keys, values)
	packPanels(other, k, h.ldq, h.T, h.width)
	packPanelsTrans(values, v, h.ldv, h.width, h.T)
	h.backward(other, values)
	return keys
}
