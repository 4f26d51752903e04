package nn

import "math"

// Forward runs the model over packed sequences: sequence s is
// tokens[starts[s]:starts[s+1]], positions count from its first token, and
// nothing is seen across sequences. packed holds m's matrices, also those of
// the backward pass if there is to be one. Activations stay in w.
func (m *Model[F]) Forward(w *Workspace[F], packed *Packed[F], tokens, starts []int32) {
	c := m.cfg
	D, n := c.Dim, len(tokens)
	w.fit(m, tokens, starts)
	w.packed = packed
	embedForward(w.layers[0].x, tokens, in(m.params, m.at.emb), F(c.EmbedScale), D)
	for l := range w.layers {
		a := &w.layers[l]
		m.attentionForward(w, a, l)
		next := w.xf
		if l+1 < len(w.layers) {
			next = w.layers[l+1].x
		}
		m.mlpForward(w, a, l, next, n)
	}
}

// attentionForward fills a up to mid.
func (m *Model[F]) attentionForward(w *Workspace[F], a *activations[F], l int) {
	c, p, y := m.cfg, m.params, m.at.layer[l]
	D, H, G, E := c.Dim, c.Heads, c.KVHeads, c.HeadDim()
	n, W, Q := len(w.tokens), (H+2*G)*E, (H+G)*E
	rmsForward(a.h1, a.rstd1, a.x, in(p, y.g1), F(c.NormEps), D)
	w.packed.forward(w.blas, false, n, a.h1, l, matQKV, a.qkv)
	factor := F(1 / math.Sqrt(float64(E)))
	for s := range len(w.starts) - 1 {
		lo, T := int(w.starts[s]), int(w.starts[s+1]-w.starts[s])
		R := roundUp(T)
		qkv, qk, o := a.qkv[lo*W:(lo+T)*W], a.qk[lo*Q:(lo+T)*Q], a.o[lo*D:(lo+T)*D]
		m.position(qk, qkv, T, 0, y, nil, nil)
		for g := range G {
			putPanels(w.panels, 0, qk[(H+g)*E:], Q, T, E)
			v := qkv[(H+G+g)*E:]
			for h := g * (H / G); h < (g+1)*(H/G); h++ {
				prob := a.prob[w.probOff[s]+h*T*R:]
				for t := range T {
					attend(o[t*D+h*E:t*D+(h+1)*E], prob[t*R:(t+1)*R], qk[t*Q+h*E:t*Q+(h+1)*E],
						w.panels, v, W, t+1, factor)
				}
			}
		}
	}
	copy(a.mid, a.x)
	w.packed.forward(w.blas, true, n, a.o, l, matOut, a.mid)
}

// position sets qk, rows of queries and keys, from the first columns of the
// rows qkv: mixed over positions, then rotated. The rows stand at position pos
// and on; pastQ and pastK are the unmixed rows before them, newest first.
func (m *Model[F]) position(qk, qkv []F, T, pos int, y layerLayout, pastQ, pastK []F) {
	c := m.cfg
	H, G, E := c.Heads, c.KVHeads, c.HeadDim()
	W, Q := (H+2*G)*E, (H+G)*E
	if c.Smear {
		tapsForward(qk, Q, qkv, W, T, in(m.params, y.qt), pastQ, H*E)
		tapsForward(qk[H*E:], Q, qkv[H*E:], W, T, in(m.params, y.kt), pastK, G*E)
	} else {
		for t := range T {
			copy(qk[t*Q:(t+1)*Q], qkv[t*W:])
		}
	}
	if m.rope.half > 0 {
		for t := range T {
			m.rope.forward(qk[t*Q:(t+1)*Q], H+G, E, pos+t)
		}
	}
}

// mlpForward fills the rest of a and sets next to the output of the block.
func (m *Model[F]) mlpForward(w *Workspace[F], a *activations[F], l int, next []F, n int) {
	c, p, y := m.cfg, m.params, m.at.layer[l]
	D := c.Dim
	rmsForward(a.h2, a.rstd2, a.mid, in(p, y.g2), F(c.NormEps), D)
	w.packed.forward(w.blas, false, n, a.h2, l, matUp, a.up)
	m.activate(a.act, a.up)
	copy(next, a.mid)
	w.packed.forward(w.blas, true, n, a.act, l, matDown, next)
}

func (m *Model[F]) activate(out, up []F) {
	if m.cfg.Activation == "swiglu" {
		swigluForward(out, up, m.cfg.FF)
		return
	}
	geluForward(out, up)
}

// LogProbs fills logp[i] and entropy[i] for every need[i] that is not the
// first token of its sequence, and 0 elsewhere. It follows Forward. invT is
// the reciprocal temperature.
func (m *Model[F]) LogProbs(w *Workspace[F], need []bool, invT F, logp, entropy []F) {
	c := m.cfg
	D, V := c.Dim, c.Vocab
	rows := w.rows[:0]
	for s := range len(w.starts) - 1 {
		for i := w.starts[s]; i < w.starts[s+1]; i++ {
			logp[i], entropy[i] = 0, 0
			if need[i] && i > w.starts[s] {
				rows = append(rows, i-1)
			}
		}
	}
	w.rows = rows
	n := len(rows)
	hrow := fit(&w.hrow, n*D)
	for k, i := range rows {
		copy(hrow[k*D:(k+1)*D], w.xf[int(i)*D:])
	}
	fit(&w.hn, n*D)
	fit(&w.stats, n)
	fit(&w.logits, n*V)
	rmsForward(w.hn, fit(&w.rstdf, n), hrow, in(m.params, m.at.gf), F(c.NormEps), D)
	w.packed.forward(w.blas, false, n, w.hn, -1, 0, w.logits)
	for k, i := range rows {
		st := logSoftmaxPick(w.logits[k*V:(k+1)*V], int(w.tokens[i+1]), invT)
		logp[i+1], entropy[i+1], w.stats[k] = st.logp, st.entropy, st
	}
}
