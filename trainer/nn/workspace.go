package nn

import "github.com/proctor-rl/proctor/trainer/fastblas"

// Workspace holds the activations of one packed batch and the scratch of its
// backward pass. It grows to the largest batch it has seen and then allocates
// no more. It belongs to one goroutine at a time.
type Workspace[F Float] struct {
	blas           *fastblas.Workspace
	packed         *Packed[F]
	tokens, starts []int32
	layers         []activations[F]
	xf             []F // (N,D) the residual stream at the end
	probOff        []int

	// The head is computed only for the rows that somebody asked for.
	rows     []int32       // row whose successor is wanted
	hrow     []F           // (rows,D) its residual stream
	hn       []F           // (rows,D) normalised
	rstdf    []F           // (rows)
	logits   []F           // (rows,V)
	stats    []headStat[F] // (rows)
	tmp      []F           // four rows of the longest sequence
	panels   []F           // keys or values of one head, see attention.go
	dx, dh   []F           // (N,D)
	dqkv     []F           // (N,(H+2G)E)
	dqk      []F           // (N,(H+G)E)
	dup, dff []F           // (N,upWidth), (N,F)
}

// activations are what one block keeps for its backward pass.
type activations[F Float] struct {
	x            []F // (N,D) input
	rstd1, rstd2 []F // (N)
	h1           []F // (N,D) normalised input
	qkv          []F // (N,(H+2G)E)
	qk           []F // (N,(H+G)E) queries and keys, mixed over positions and rotated
	prob         []F // per sequence (H,T,T rounded up): softmax, lower triangle
	o            []F // (N,HE)
	mid          []F // (N,D) after attention
	h2           []F // (N,D) normalised
	up           []F // (N,upWidth)
	act          []F // (N,F)
}

func (w *Workspace[F]) fit(m *Model[F], tokens, starts []int32) {
	c, n := m.cfg, len(tokens)
	E, D := c.HeadDim(), c.Dim
	w.tokens, w.starts = tokens, starts
	longest, pairs := 0, 0
	off := fit(&w.probOff, len(starts)-1)
	for s := range off {
		T := int(starts[s+1] - starts[s])
		longest = max(longest, T)
		off[s] = pairs
		pairs += T * roundUp(T) * c.Heads
	}
	if w.layers == nil {
		w.blas = fastblas.NewWorkspace()
		w.layers = make([]activations[F], c.Layers)
	}
	for l := range w.layers {
		a := &w.layers[l]
		fit(&a.x, n*D)
		fit(&a.rstd1, n)
		fit(&a.rstd2, n)
		fit(&a.h1, n*D)
		fit(&a.qkv, n*(c.Heads+2*c.KVHeads)*E)
		fit(&a.qk, n*(c.Heads+c.KVHeads)*E)
		fit(&a.prob, pairs)
		fit(&a.o, n*D)
		fit(&a.mid, n*D)
		fit(&a.h2, n*D)
		fit(&a.up, n*c.upWidth())
		fit(&a.act, n*c.FF)
	}
	fit(&w.xf, n*D)
	fit(&w.tmp, 4*roundUp(longest))
	fit(&w.panels, E*roundUp(longest))
}

func (w *Workspace[F]) fitBackward(m *Model[F]) {
	c, n := m.cfg, len(w.tokens)
	E := c.HeadDim()
	fit(&w.dx, n*c.Dim)
	fit(&w.dh, n*c.Dim)
	fit(&w.dqkv, n*(c.Heads+2*c.KVHeads)*E)
	fit(&w.dqk, n*(c.Heads+c.KVHeads)*E)
	fit(&w.dup, n*c.upWidth())
	fit(&w.dff, n*c.FF)
}
