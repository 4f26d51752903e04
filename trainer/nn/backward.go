package nn

import "math"

// Backward adds to grads, a flat vector like Params, the gradient of the sum
// of dlogp*logp and dentropy*entropy over the tokens that LogProbs computed;
// other elements of dlogp and dentropy are not read. It follows LogProbs and
// uses up its activations.
func (m *Model[F]) Backward(w *Workspace[F], invT F, dlogp, dentropy, grads []F) {
	c := m.cfg
	if len(w.want.rows) == 0 {
		return
	}
	w.fitBackward(m)
	m.headBackward(w, invT, dlogp, dentropy, grads)
	for l := len(w.layers) - 1; l >= 0; l-- {
		m.mlpBackward(w, l, grads)
		m.attentionBackward(w, l, grads)
	}
	for s := range len(w.starts) - 1 {
		positionsBackward(in(grads, m.at.pos), w.dx[int(w.starts[s])*c.Dim:int(w.starts[s+1])*c.Dim], int(w.place[s]), c.Dim)
	}
	embedBackward(in(grads, m.at.emb), w.dx, w.tokens, F(c.EmbedScale), c.Dim)
}

// headBackward sets w.dx to the gradient of the wanted rows of the last
// residual stream.
func (m *Model[F]) headBackward(w *Workspace[F], invT F, dlogp, dentropy, grads []F) {
	c := m.cfg
	D, V, n := c.Dim, c.Vocab, len(w.want.rows)
	for k, i := range w.want.rows {
		logSoftmaxPickBackward(w.logits[k*V:(k+1)*V], int(w.tokens[i+1]), invT, dlogp[i+1], dentropy[i+1], w.stats[k])
	}
	gemmTN(w.blas, true, V, D, n, w.logits, V, w.hn, D, in(grads, m.at.emb), D)
	dhn := w.dh[:n*D]
	w.packed.backward(w.blas, n, w.logits, -1, 0, dhn)
	clear(w.dx[:n*D])
	m.normBackward(w.dx, dhn, w.xf, w.normf, m.at.gf, m.at.cf, grads)
}

// mlpBackward takes w.dx from the output of the block back to after attention.
func (m *Model[F]) mlpBackward(w *Workspace[F], l int, grads []F) {
	c, a, y := m.cfg, &w.layers[l], m.at.layer[l]
	D, U, ff, n := c.Dim, c.upWidth(), c.FF, len(a.norm2.rstd)
	m.biasBackward(n, w.dx, l, matDown, grads)
	gemmTN(w.blas, true, ff, D, n, a.act, ff, w.dx, D, in(grads, y.w2), D)
	w.packed.backward(w.blas, n, w.dx, l, matDown, w.dff)
	if c.Activation == "swiglu" {
		swigluBackward(w.dup[:n*U], w.dff[:n*ff], a.up, ff)
	} else {
		geluBackward(w.dup[:n*U], w.dff[:n*ff], a.up)
	}
	m.biasBackward(n, w.dup, l, matUp, grads)
	gemmTN(w.blas, true, D, U, n, a.h2, D, w.dup, U, in(grads, y.w1), U)
	w.packed.backward(w.blas, n, w.dup, l, matUp, w.dh)
	m.normBackward(w.dx, w.dh, a.mid, a.norm2, y.g2, y.c2, grads)
}

// attentionBackward takes w.dx from after attention, where it has the selected
// rows, back to the input of the block, where it has all.
func (m *Model[F]) attentionBackward(w *Workspace[F], l int, grads []F) {
	c, a, y, sel := m.cfg, &w.layers[l], m.at.layer[l], w.selected(l)
	D, H, G, E := c.Dim, c.Heads, c.KVHeads, c.HeadDim()
	n, k, W, Q := len(w.tokens), len(sel.rows), (H+2*G)*E, (H+G)*E
	m.biasBackward(k, w.dx, l, matOut, grads)
	gemmTN(w.blas, true, D, D, k, a.o, D, w.dx, D, in(grads, y.wo), D)
	w.packed.backward(w.blas, k, w.dx, l, matOut, w.dh)
	clear(w.dqk)
	clear(w.dqkv)
	factor := F(1 / math.Sqrt(float64(E)))
	for s := range len(w.starts) - 1 {
		lo, own, before := int(w.starts[s]), int(w.starts[s+1]-w.starts[s]), int(w.place[s])
		T := before + own
		R := roundUp(T)
		first := int(sel.starts[s])
		rows, o, do := sel.rows[first:sel.starts[s+1]], a.o[first*D:], w.dh[first*D:]
		if len(rows) == 0 {
			continue
		}
		keys, values := w.panels[0], w.panels[1]
		for g := range G {
			k, v := w.keysAndValues(m, a, g, s)
			packPanels(keys, k.rows, k.ld, T, E)
			packPanelsTrans(values, v.rows, v.ld, E, T)
			dk, dv := w.keyAndValueGradients(m, g, s)
			for h := g * (H / G); h < (g+1)*(H/G); h++ {
				head := headRun[F]{
					T: T, lo: lo - before, first: before, rows: rows, q: a.qk[lo*Q+h*E:], ldq: Q, o: o[h*E:], ldo: D,
					prob: a.prob[w.probOff[s]+h*own*R:], factor: factor, width: E, tmp: w.tmp,
					dq: w.dqk[lo*Q+h*E:], dk: dk.rows, ldk: dk.ld, dv: dv.rows, ldv: dv.ld, dout: do[h*E:], own: w.panels[2],
				}
				head.backward(keys, values)
			}
			w.giveGradients(m, dk, dv, g, s)
		}
	}
	m.positionAllBackward(w, a, y, grads)
	m.biasBackward(n, w.dqkv, l, matQKV, grads)
	gemmTN(w.blas, true, D, W, n, a.h1, D, w.dqkv, W, in(grads, y.wqkv), W)
	w.packed.backward(w.blas, n, w.dqkv, l, matQKV, w.dh)
	if sel == &w.want {
		clear(w.dy)
		for i, row := range sel.rows {
			copy(w.dy[int(row)*D:(int(row)+1)*D], w.dx[i*D:(i+1)*D])
		}
		w.dx, w.dy = w.dy, w.dx
	}
	m.normBackward(w.dx, w.dh, a.x, a.norm1, y.g1, y.c1, grads)
}
