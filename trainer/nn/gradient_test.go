package nn

import (
	"math"
	"math/rand/v2"
	"testing"
)

// central compares a gradient with central differences of loss by x.
func central(t *testing.T, what string, x, grad []float64, loss func() float64) {
	t.Helper()
	const h = 1e-6
	for i, v := range x {
		x[i] = v + h
		up := loss()
		x[i] = v - h
		d := (up - loss()) / (2 * h)
		x[i] = v
		if math.Abs(d-grad[i]) > 1e-6*(1+math.Abs(d)) {
			t.Fatalf("%s: gradient %d is %g, central difference %g", what, i, grad[i], d)
		}
	}
}

func normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// TestLayerGradients checks every layer by itself; the weights of the sum that
// is differentiated are the gradient that comes in.
func TestLayerGradients(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const n, D = 5, 6
	x, dy := normals(rng, n*D), normals(rng, n*D)
	y, dx := make([]float64, n*D), make([]float64, n*D)

	gain, rstd, dgain := normals(rng, D), make([]float64, n), make([]float64, D)
	norm := func() float64 {
		rmsForward(y, rstd, x, gain, 1e-6, D)
		return dot(y, dy)
	}
	norm()
	rmsBackward(dx, dgain, dy, x, rstd, gain, D)
	central(t, "rmsnorm by input", x, dx, norm)
	central(t, "rmsnorm by gain", gain, dgain, norm)

	bias, dbias, mean := normals(rng, D), make([]float64, D), make([]float64, n)
	layer := func() float64 {
		layerForward(y, mean, rstd, x, gain, bias, 1e-6, D)
		return dot(y, dy)
	}
	layer()
	clear(dx)
	clear(dgain)
	layerBackward(dx, dgain, dbias, dy, x, mean, rstd, gain, D)
	central(t, "layernorm by input", x, dx, layer)
	central(t, "layernorm by gain", gain, dgain, layer)
	central(t, "layernorm by bias", bias, dbias, layer)

	gelu := func() float64 {
		geluForward(y, x)
		return dot(y, dy)
	}
	geluBackward(dx, dy, x)
	central(t, "gelu", x, dx, gelu)

	gate, dgate, half := normals(rng, 2*n*D), make([]float64, 2*n*D), normals(rng, n*D)
	swi := func() float64 {
		swigluForward(y, gate, D)
		return dot(y, half)
	}
	swigluBackward(dgate, half, gate, D)
	central(t, "swiglu", gate, dgate, swi)

	w, dw := normals(rng, 3*D), make([]float64, 3*D)
	taps := func() float64 {
		tapsForward(y, D, x, D, n, w, nil, D)
		return dot(y, dy)
	}
	tapsBackward(dx, D, dw, dy, D, x, n, w, D)
	central(t, "taps by input", x, dx, taps)
	central(t, "taps by weight", w, dw, taps)

	r := newRope[float64](4, 16, 100)
	turn := func() float64 {
		copy(y, x)
		for i := range n {
			r.forward(y[i*D:(i+1)*D], 1, D, i+3)
		}
		return dot(y, dy)
	}
	copy(dx, dy)
	for i := range n {
		r.backward(dx[i*D:(i+1)*D], 1, D, i+3)
	}
	central(t, "rope", x, dx, turn)

	emb, demb, tokens := normals(rng, 4*D), make([]float64, 4*D), []int32{3, 0, 3, 2, 2}
	look := func() float64 {
		embedForward(y, tokens, emb, 1.7, D)
		return dot(y, dy)
	}
	embedBackward(demb, dy, tokens, 1.7, D)
	central(t, "embedding", emb, demb, look)

	logits := normals(rng, 9)
	head := func() float64 {
		st := logSoftmaxPick(logits, 4, 0.8)
		return 1.3*st.logp - 0.7*st.entropy
	}
	dl := append([]float64(nil), logits...)
	logSoftmaxPickBackward(dl, 4, 0.8, 1.3, -0.7, logSoftmaxPick(logits, 4, 0.8))
	central(t, "log-softmax", logits, dl, head)
}

// TestAttentionGradient checks one head over all its queries.
func TestAttentionGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const E, factor = 3, 0.6
	for i, T := range []int{1, 3, 4, 7, 18, 70, 70} {
		every, R := i == 6, roundUp(T)
		q, k, v, dout := normals(rng, T*E), normals(rng, T*E), normals(rng, T*E), normals(rng, T*E)
		out, prob := make([]float64, T*E), make([]float64, T*R)
		keys, values, own := make([]float64, panelSpace(T, E)), make([]float64, panelSpace(T, E)), make([]float64, panelSpace(T, E))
		// Queries 1, 4, 7... are not asked for.
		var rows []int32
		for t := range T {
			if every || t%3 != 1 {
				rows = append(rows, int32(100+t))
			}
		}
		dq, dk, dv := make([]float64, T*E), make([]float64, T*E), make([]float64, T*E)
		dout = dout[:len(rows)*E]
		h := headRun[float64]{
			T: T, lo: 100, rows: rows, q: q, ldq: E, o: out, ldo: E, prob: prob, factor: factor, width: E,
			tmp: make([]float64, headSpace(T, E)), dq: dq, dk: dk, ldk: E, dv: dv, ldv: E, dout: dout, own: own,
		}
		forward := func() float64 {
			packPanelsTrans(keys, k, E, E, T)
			packPanels(values, v, E, T, E)
			h.forward(keys, values)
			return dot(out[:len(dout)], dout)
		}
		forward()
		packPanels(keys, k, E, T, E)
		packPanelsTrans(values, v, E, E, T)
		h.backward(keys, values)
		central(t, "attention by query", q, dq, forward)
		central(t, "attention by key", k, dk, forward)
		central(t, "attention by value", v, dv, forward)
	}
}
