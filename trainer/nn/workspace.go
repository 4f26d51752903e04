package nn

import "github.com/proctor-rl/proctor/trainer/fastblas"

// Workspace holds the activations of one packed batch and the scratch of its
// backward pass. It grows to the largest batch it has seen and then allocates
// no more. It belongs to one goroutine at a time.
type Workspace[F Float] struct {
	blas           *fastblas.Workspace
	packed         *Packed[F]
	tokens, starts []int32
	after, place   []int32 // of the sequences, see prefix.go
	none           []int32 // after, if the caller has none
	layers         []activations[F]
	probOff        []int

	// Log-probabilities are computed only where somebody asked for them. So
	// the last layer, from its attention on, and the head see only rows whose
	// successor is wanted, n of them.
	all, want selection
	xf        []F           // (n,D) the residual stream at the end
	hn        []F           // (n,D) normalised
	normf     normed[F]     // (n)
	logits    []F           // (n,V)
	stats     []headStat[F] // (n)

	tmp      []F    // headSpace of the longest sequence
	panels   [3][]F // rows of one head, see attention_train.go
	lines    [2][]F // keys and values of one head, or their gradients, see prefix.go
	past     [2][]F // queries and keys before a sequence, newest first
	dx, dy   []F    // (N,D) gradients of the residual stream
	dh       []F    // (N,D)
	dqkv     []F    // (N,(H+2G)E)
	dqk      []F    // (N,(H+G)E)
	dup, dff []F    // (N,upWidth), (N,F)
}

// selection is some rows of a batch, ascending: those of sequence s are
// rows[starts[s]:starts[s+1]].
type selection struct{ rows, starts []int32 }

// gather copies rows of src, D wide, to dst one after the other.
func gather[F Float](dst, src []F, rows []int32, D int) {
	for k, i := range rows {
		copy(dst[k*D:(k+1)*D], src[int(i)*D:])
	}
}

// selectRows fills both selections.
func (w *Workspace[F]) selectRows(need []bool) {
	w.all.rows, w.want.rows, w.want.starts = w.all.rows[:0], w.want.rows[:0], w.want.starts[:0]
	w.all.starts = w.starts
	for s := range len(w.starts) - 1 {
		w.want.starts = append(w.want.starts, int32(len(w.want.rows)))
		for i := w.starts[s]; i < w.starts[s+1]; i++ {
			w.all.rows = append(w.all.rows, i)
			if i > w.starts[s] && need[i] {
				w.want.rows = append(w.want.rows, i-1)
			}
		}
	}
	w.want.starts = append(w.want.starts, int32(len(w.want.rows)))
}

// selected is the rows that layer l works on after its keys and values.
func (w *Workspace[F]) selected(l int) *selection {
	if l == len(w.layers)-1 {
		return &w.want
	}
	return &w.all
}

// activations are what one block keeps for its backward pass. Those of the
// last block have n rows instead of N from prob on.
type activations[F Float] struct {
	x            []F       // (N,D) input
	norm1, norm2 normed[F] // (N)
	h1           []F       // (N,D) normalised input
	qkv          []F       // (N,(H+2G)E)
	qk           []F       // (N,(H+G)E) queries and keys, mixed over positions and rotated
	prob         []F       // per sequence (H, own rows, all places rounded up): softmax, lower triangle
	o            []F       // (N,HE)
	mid          []F       // (N,D) after attention
	h2           []F       // (N,D) normalised
	up           []F       // (N,upWidth)
	act          []F       // (N,F)
}

func (w *Workspace[F]) fit(m *Model[F], tokens, starts, after []int32, need []bool) {
	c, n := m.cfg, len(tokens)
	E, D := c.HeadDim(), c.Dim
	w.tokens, w.starts = tokens, starts
	w.selectRows(need)
	w.fitPlaces(starts, after)
	longest, pairs := 0, 0
	off := fit(&w.probOff, len(starts)-1)
	for s := range off {
		own := int(starts[s+1] - starts[s])
		T := int(w.place[s]) + own
		longest = max(longest, T)
		off[s] = pairs
		pairs += own * roundUp(T) * c.Heads
	}
	if w.layers == nil {
		w.blas = fastblas.NewWorkspace()
		w.layers = make([]activations[F], c.Layers)
	}
	for l := range w.layers {
		a, k := &w.layers[l], len(w.selected(l).rows)
		fit(&a.x, n*D)
		a.norm1.fit(c, n)
		a.norm2.fit(c, k)
		fit(&a.h1, n*D)
		fit(&a.qkv, n*(c.Heads+2*c.KVHeads)*E)
		fit(&a.qk, n*(c.Heads+c.KVHeads)*E)
		fit(&a.prob, pairs)
		fit(&a.o, k*D)
		fit(&a.mid, k*D)
		fit(&a.h2, k*D)
		fit(&a.up, k*c.upWidth())
		fit(&a.act, k*c.FF)
	}
	k := len(w.want.rows)
	fit(&w.xf, k*D)
	fit(&w.hn, k*D)
	w.normf.fit(c, k)
	fit(&w.stats, k)
	fit(&w.logits, k*c.Vocab)
	fit(&w.tmp, headSpace(longest, E))
	for i := range w.panels {
		fit(&w.panels[i], panelSpace(longest, E))
	}
	for i := range w.lines {
		fit(&w.lines[i], longest*E)
	}
	fit(&w.past[0], queryTaps*c.Heads*E)
	fit(&w.past[1], keyTaps*c.KVHeads*E)
}

func (w *Workspace[F]) fitBackward(m *Model[F]) {
	c, n := m.cfg, len(w.tokens)
	E := c.HeadDim()
	fit(&w.dx, n*c.Dim)
	fit(&w.dy, n*c.Dim)
	fit(&w.dh, n*c.Dim)
	fit(&w.dqkv, n*(c.Heads+2*c.KVHeads)*E)
	fit(&w.dqk, n*(c.Heads+c.KVHeads)*E)
	fit(&w.dup, n*c.upWidth())
	fit(&w.dff, n*c.FF)
}
