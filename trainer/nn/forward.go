package nn

import "math"

// Forward runs the model over packed sequences: sequence s is
// tokens[starts[s]:starts[s+1]]. It goes on after sequence after[s], an earlier
// one, or begins anew where after[s] is -1, as all do if after is nil. Nothing
// else is seen across sequences. need says of which tokens the
// log-probabilities will be wanted; the first of a sequence has none. packed
// holds m's matrices, also those of the backward pass if there is to be one.
// Activations stay in w.
func (m *Model[F]) Forward(w *Workspace[F], packed *Packed[F], tokens, starts, after []int32, need []bool) {
	c := m.cfg
	w.fit(m, tokens, starts, after, need)
	w.packed = packed
	if len(w.want.rows) == 0 {
		return
	}
	embedForward(w.layers[0].x, tokens, in(m.params, m.at.emb), F(c.EmbedScale), c.Dim)
	for s := range len(starts) - 1 {
		positionsForward(w.layers[0].x[int(starts[s])*c.Dim:int(starts[s+1])*c.Dim], in(m.params, m.at.pos), int(w.place[s]), c.Dim)
	}
	for l := range w.layers {
		a := &w.layers[l]
		m.attentionForward(w, a, l)
		next := w.xf
		if l+1 < len(w.layers) {
			next = w.layers[l+1].x
		}
		m.mlpForward(w, a, l, next)
	}
}

// attentionForward fills a up to mid.
func (m *Model[F]) attentionForward(w *Workspace[F], a *activations[F], l int) {
	c, y, sel := m.cfg, m.at.layer[l], w.selected(l)
	D, H, G, E := c.Dim, c.Heads, c.KVHeads, c.HeadDim()
	n, Q := len(w.tokens), (H+G)*E
	m.norm(a.h1, a.norm1, a.x, y.g1, y.c1)
	m.linear(w.blas, w.packed, false, n, a.h1, l, matQKV, a.qkv)
	m.positionAll(w, a, y)
	factor := F(1 / math.Sqrt(float64(E)))
	for s := range len(w.starts) - 1 {
		lo, own, before := int(w.starts[s]), int(w.starts[s+1]-w.starts[s]), int(w.place[s])
		T := before + own
		R := roundUp(T)
		first := int(sel.starts[s])
		rows, o := sel.rows[first:sel.starts[s+1]], a.o[first*D:]
		if len(rows) == 0 {
			continue
		}
		keys, values := w.panels[0], w.panels[1]
		for g := range G {
			k, v := w.keysAndValues(m, a, g, s)
			packPanelsTrans(keys, k.rows, k.ld, E, T)
			packPanels(values, v.rows, v.ld, T, E)
			for h := g * (H / G); h < (g+1)*(H/G); h++ {
				head := headRun[F]{
					T: T, lo: lo - before, first: before, rows: rows, q: a.qk[lo*Q+h*E:], ldq: Q, o: o[h*E:], ldo: D,
					prob: a.prob[w.probOff[s]+h*own*R:], factor: factor, width: E, tmp: w.tmp,
				}
				head.forward(keys, values)
			}
		}
	}
	gather(a.mid, a.x, sel.rows, D)
	m.linear(w.blas, w.packed, true, len(sel.rows), a.o, l, matOut, a.mid)
}

// mlpForward fills the rest of a and sets next to the output of the block.
func (m *Model[F]) mlpForward(w *Workspace[F], a *activations[F], l int, next []F) {
	n, y := len(a.norm2.rstd), m.at.layer[l]
	m.norm(a.h2, a.norm2, a.mid, y.g2, y.c2)
	m.linear(w.blas, w.packed, false, n, a.h2, l, matUp, a.up)
	m.activate(a.act, a.up)
	copy(next, a.mid)
	m.linear(w.blas, w.packed, true, n, a.act, l, matDown, next)
}

func (m *Model[F]) activate(out, up []F) {
	if m.cfg.Activation == "swiglu" {
		swigluForward(out, up, m.cfg.FF)
		return
	}
	geluForward(out, up)
}

// LogProbs fills logp[i] and entropy[i] for every needed token and sets 0
// elsewhere. It follows Forward. invT is the reciprocal temperature.
func (m *Model[F]) LogProbs(w *Workspace[F], invT F, logp, entropy []F) {
	c := m.cfg
	V, rows := c.Vocab, w.want.rows
	clear(logp)
	clear(entropy)
	n := len(rows)
	if n == 0 {
		return
	}
	m.norm(w.hn, w.normf, w.xf, m.at.gf, m.at.cf)
	w.packed.forward(w.blas, false, n, w.hn, -1, 0, w.logits)
	for k, i := range rows {
		st := logSoftmaxPick(w.logits[k*V:(k+1)*V], int(w.tokens[i+1]), invT)
		logp[i+1], entropy[i+1], w.stats[k] = st.logp, st.entropy, st
	}
}
