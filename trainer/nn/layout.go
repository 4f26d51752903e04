package nn

import "fmt"

// Span names a range of the flat parameter vector.
type Span struct {
	Name   string
	Lo, Hi int
	Shape  []int
	Decay  bool // weight decay applies: matrices, not gains and taps
}

type span struct{ lo, hi int }

// in is the part of the flat vector p that s names.
func in[F Float](p []F, s span) []F { return p[s.lo:s.hi] }

// layout says where in the flat vector every parameter lies.
type layout struct {
	spans []Span
	size  int
	emb   span // (V,D), also the output matrix
	pos   span // (Context,D) or nothing
	layer []layerLayout
	gf    span // (D)
	cf    span // (D) or nothing: the bias of the last norm
}

// The number of rows, its own and those before it, that a query and a key are
// mixed from.
const queryTaps, keyTaps = 2, 3

type layerLayout struct {
	g1   span // (D)
	wqkv span // (D, (H+2G)E): columns of queries, keys, values
	qt   span // (queryTaps, HE)
	kt   span // (keyTaps, GE)
	wo   span // (HE, D)
	g2   span // (D)
	w1   span // (D, F) or, for swiglu, (D, 2F)
	w2   span // (F, D)

	// Biases, empty if the configuration has none: of the norms and of the
	// products in the order of their places.
	c1, c2 span // (D)
	bias   [matsPerLayer]span
}

func newLayout(c Config) layout {
	var l layout
	add := func(decay bool, name string, shape ...int) span {
		n := 1
		for _, d := range shape {
			n *= d
		}
		s := span{l.size, l.size + n}
		l.spans = append(l.spans, Span{name, s.lo, s.hi, shape, decay})
		l.size += n
		return s
	}
	E, layer := c.HeadDim(), c.Norm == "layer"
	l.emb = add(true, "embed", c.Vocab, c.Dim)
	if c.Positions == "learned" {
		l.pos = add(true, "positions", c.Context, c.Dim)
	}
	for i := range c.Layers {
		name := func(s string) string { return fmt.Sprintf("layers.%d.%s", i, s) }
		var y layerLayout
		y.g1 = add(false, name("norm1"), c.Dim)
		y.wqkv = add(true, name("qkv"), c.Dim, (c.Heads+2*c.KVHeads)*E)
		if c.Smear {
			y.qt = add(false, name("query_taps"), queryTaps, c.Heads*E)
			y.kt = add(false, name("key_taps"), keyTaps, c.KVHeads*E)
		}
		y.wo = add(true, name("out"), c.Heads*E, c.Dim)
		y.g2 = add(false, name("norm2"), c.Dim)
		y.w1 = add(true, name("up"), c.Dim, c.upWidth())
		y.w2 = add(true, name("down"), c.FF, c.Dim)
		if layer {
			y.c1 = add(false, name("norm1_bias"), c.Dim)
			y.c2 = add(false, name("norm2_bias"), c.Dim)
		}
		if c.Bias {
			y.bias[matQKV] = add(false, name("qkv_bias"), (c.Heads+2*c.KVHeads)*E)
			y.bias[matOut] = add(false, name("out_bias"), c.Dim)
			y.bias[matUp] = add(false, name("up_bias"), c.upWidth())
			y.bias[matDown] = add(false, name("down_bias"), c.Dim)
		}
		l.layer = append(l.layer, y)
	}
	l.gf = add(false, "norm", c.Dim)
	if layer {
		l.cf = add(false, "norm_bias", c.Dim)
	}
	return l
}

// upWidth is the width of the first product of the MLP.
func (c Config) upWidth() int {
	if c.Activation == "swiglu" {
		return 2 * c.FF
	}
	return c.FF
}

// NumParams is the number of parameters of a valid c; ok is false if there are
// more than limit.
func (c Config) NumParams(limit int) (n int, ok bool) {
	c = c.Resolved()
	few := c
	few.Layers = 1
	first := newLayout(few).size
	few.Layers = 2
	rest := newLayout(few).size - first
	if c.Layers > limit/rest+1 {
		return 0, false
	}
	n = first + (c.Layers-1)*rest
	return n, n <= limit
}
