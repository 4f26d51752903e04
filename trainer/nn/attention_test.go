package nn

import (
	"math"
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
			tmp: make([]float32, headSpace(T, E)), dq: dq.f32, dk: dk.f32, ldk: ldq, dv: dv.f32, ldv: ldv, dout: dout.f32,
			own: make([]float32, panelSpace(T, E)),
		}
		h64 := headRun[float64]{
			T: T, lo: 7, rows: rows, q: q.f64, ldq: ldq, o: o.f64, ldo: ldo, prob: prob.f64, factor: 0.3, width: E,
			tmp: make([]float64, headSpace(T, E)), dq: dq.f64, dk: dk.f64, ldk: ldq, dv: dv.f64, ldv: ldv, dout: dout.f64,
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

// FuzzAttendPair computes two heads at once, with keys before and after a
// border and what lies beyond them poisoned, bit for bit as one by one.
func FuzzAttendPair(f *testing.F) {
	for i, n := range []uint8{1, 16, 17, 47, 48, 80, 97, 113, 144, 160} {
		f.Add(uint64(i), n, uint8(i))
	}
	f.Fuzz(func(t *testing.T, seed uint64, length, before uint8) {
		const E = 32
		if !pairWidth[float32](E) {
			return // without assembly there is only attend
		}
		rng := rand.New(rand.NewPCG(seed, 6))
		n, n0 := 1+int(length)%200, panel*(int(before)%5)
		var base, own [2]keyRun[float32]
		for i := range 2 {
			k0, v0 := newPair(rng, n0*E), newPair(rng, n0*E)
			k, v := newPair(rng, roundUp(n)*E), newPair(rng, n*E)
			base[i], own[i] = keyRun[float32]{k0.f32, v0.f32, n0}, keyRun[float32]{k.f32, v.f32, n}
			for j := n; j < roundUp(n); j++ {
				for e := range E {
					k.f32[j/panel*panel*E+e*panel+j%panel] = float32(math.NaN())
				}
			}
		}
		up := n0 + roundUp(n)
		q, out, prob := newPair(rng, 2*E), newPair(rng, 2*E), newPair(rng, 2*up)
		attendPair(out.f32, prob.f32, q.f32, base[0], own[0], base[1], own[1], 0.3)
		out.check(t, "output", 0, 0)
		prob.check(t, "scores", 0, 0)
		want, p := make([]float32, E), make([]float32, up)
		for i := range 2 {
			attend(want, p, q.f32[i*E:(i+1)*E], base[i], own[i], E, 0.3)
			for e, w := range want {
				if got := out.f32[i*E+e]; math.Float32bits(got) != math.Float32bits(w) {
					t.Fatalf("head %d of %d+%d keys, element %d: %g together, %g alone", i, n0, n, e, got, w)
				}
			}
		}
	})
}
