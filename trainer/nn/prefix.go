package nn

// Sequences of a batch may share their beginnings: sequence s goes on after the
// last token of sequence after[s], which stands earlier in the batch and may
// itself go on after another. What is shared is computed and kept once. Rows of
// the batch are the tokens, each once; a place is where a token stands in its
// sequence, counted from the very first one.

// fitPlaces sets w.place, the places of the first rows of the sequences.
func (w *Workspace[F]) fitPlaces(starts, after []int32) {
	if after == nil {
		after = fit(&w.none, len(starts)-1)
		for s := range after {
			after[s] = -1
		}
	}
	w.after = after
	place := fit(&w.place, len(after))
	for s, p := range after {
		place[s] = 0
		if p >= 0 {
			if int(p) >= s {
				panic("nn: a sequence goes on after a later one")
			}
			place[s] = place[p] + starts[p+1] - starts[p]
		}
	}
}

// line calls f for sequence s and what it goes on after, the last part first:
// its rows lo to hi stand at place and on.
func (w *Workspace[F]) line(s int, f func(place, lo, hi int)) {
	for ; s >= 0; s = int(w.after[s]) {
		f(int(w.place[s]), int(w.starts[s]), int(w.starts[s+1]))
	}
}

// gatherLine copies the rows src (stride ld) of sequence s and of all that it
// goes on after to dst, E wide, in the order of their places.
func (w *Workspace[F]) gatherLine(dst, src []F, ld, s, E int) {
	w.line(s, func(place, lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(dst[(place+i-lo)*E:][:E], src[i*ld:])
		}
	})
}

// addLine adds to the rows dst what gatherLine would have got from them.
func (w *Workspace[F]) addLine(dst, src []F, ld, s, E int) {
	w.line(s, func(place, lo, hi int) {
		for i := lo; i < hi; i++ {
			axpy(dst[i*ld:i*ld+E], 1, src[(place+i-lo)*E:][:E])
		}
	})
}

// rowBefore is the row that stands d places before the first row of sequence s,
// or -1 if there is none.
func (w *Workspace[F]) rowBefore(s, d int) int {
	for s = int(w.after[s]); s >= 0; s = int(w.after[s]) {
		lo, hi := int(w.starts[s]), int(w.starts[s+1])
		if d <= hi-lo {
			return hi - d
		}
		d -= hi - lo
	}
	return -1
}

// matrix is rows of a head's width, ld apart.
type matrix[F Float] struct {
	rows []F
	ld   int
}

// keysAndValues are the keys and values of head g that sequence s sees, by
// place: where they are, or gathered if the sequence goes on after another.
func (w *Workspace[F]) keysAndValues(m *Model[F], a *activations[F], g, s int) (k, v matrix[F]) {
	H, G, E := m.cfg.Heads, m.cfg.KVHeads, m.cfg.HeadDim()
	W, Q, lo := (H+2*G)*E, (H+G)*E, int(w.starts[s])
	if w.after[s] < 0 {
		return matrix[F]{a.qk[lo*Q+(H+g)*E:], Q}, matrix[F]{a.qkv[lo*W+(H+G+g)*E:], W}
	}
	w.gatherLine(w.lines[0], a.qk[(H+g)*E:], Q, s, E)
	w.gatherLine(w.lines[1], a.qkv[(H+G+g)*E:], W, s, E)
	return matrix[F]{w.lines[0], E}, matrix[F]{w.lines[1], E}
}

// keyAndValueGradients is where the gradients of keysAndValues are to be added,
// and giveGradients takes them to where they belong.
func (w *Workspace[F]) keyAndValueGradients(m *Model[F], g, s int) (dk, dv matrix[F]) {
	H, G, E := m.cfg.Heads, m.cfg.KVHeads, m.cfg.HeadDim()
	W, Q, lo := (H+2*G)*E, (H+G)*E, int(w.starts[s])
	if w.after[s] < 0 {
		return matrix[F]{w.dqk[lo*Q+(H+g)*E:], Q}, matrix[F]{w.dqkv[lo*W+(H+G+g)*E:], W}
	}
	clear(w.lines[0])
	clear(w.lines[1])
	return matrix[F]{w.lines[0], E}, matrix[F]{w.lines[1], E}
}

func (w *Workspace[F]) giveGradients(m *Model[F], dk, dv matrix[F], g, s int) {
	if w.after[s] < 0 {
		return
	}
	H, G, E := m.cfg.Heads, m.cfg.KVHeads, m.cfg.HeadDim()
	w.addLine(w.dqk[(H+g)*E:], dk.rows, (H+G)*E, s, E)
	w.addLine(w.dqkv[(H+G+g)*E:], dv.rows, (H+2*G)*E, s, E)
}
