package nn

// Between the product that gives queries and keys and their attention both are
// mixed with those of the rows before them and rotated by their places.

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

// positionAll does so for all sequences of a batch.
func (m *Model[F]) positionAll(w *Workspace[F], a *activations[F], y layerLayout) {
	c := m.cfg
	H, G, E := c.Heads, c.KVHeads, c.HeadDim()
	W, Q := (H+2*G)*E, (H+G)*E
	for s := range len(w.starts) - 1 {
		lo, hi := int(w.starts[s]), int(w.starts[s+1])
		pastQ, pastK := w.past[0][:0], w.past[1][:0]
		for d := 1; c.Smear && d < keyTaps; d++ {
			row := w.rowBefore(s, d)
			if row < 0 {
				break
			}
			if d < queryTaps {
				pastQ = append(pastQ, a.qkv[row*W:row*W+H*E]...)
			}
			pastK = append(pastK, a.qkv[row*W+H*E:row*W+(H+G)*E]...)
		}
		m.position(a.qk[lo*Q:hi*Q], a.qkv[lo*W:hi*W], hi-lo, int(w.place[s]), y, pastQ, pastK)
	}
}

// positionAllBackward sets the query and key columns of w.dqkv from w.dqk,
// which it uses up.
func (m *Model[F]) positionAllBackward(w *Workspace[F], a *activations[F], y layerLayout, grads []F) {
	c := m.cfg
	H, G, E := c.Heads, c.KVHeads, c.HeadDim()
	W, Q := (H+2*G)*E, (H+G)*E
	for s := range len(w.starts) - 1 {
		lo, n := int(w.starts[s]), int(w.starts[s+1]-w.starts[s])
		qkv, dqkv, dqk := a.qkv[lo*W:(lo+n)*W], w.dqkv[lo*W:(lo+n)*W], w.dqk[lo*Q:(lo+n)*Q]
		if m.rope.half > 0 {
			for t := range n {
				m.rope.backward(dqk[t*Q:(t+1)*Q], H+G, E, int(w.place[s])+t)
			}
		}
		if !c.Smear {
			for t := range n {
				copy(dqkv[t*W:], dqk[t*Q:(t+1)*Q])
			}
			continue
		}
		tapsBackward(dqkv, W, in(grads, y.qt), dqk, Q, qkv, n, in(m.params, y.qt), H*E)
		tapsBackward(dqkv[H*E:], W, in(grads, y.kt), dqk[H*E:], Q, qkv[H*E:], n, in(m.params, y.kt), G*E)
		// Sequences come after those that they go on after, so that these
		// rows are set already.
		for d := 1; d < keyTaps; d++ {
			row := w.rowBefore(s, d)
			if row < 0 {
				break
			}
			x, dx := a.qkv[row*W:], w.dqkv[row*W:]
			tapsBackwardPast(dx, in(grads, y.qt), dqk, Q, x, n, in(m.params, y.qt), H*E, d)
			tapsBackwardPast(dx[H*E:], in(grads, y.kt), dqk[H*E:], Q, x[H*E:], n, in(m.params, y.kt), G*E, d)
		}
	}
}
