package nn

import "github.com/proctor-rl/proctor/trainer/fastblas"

// Packed holds the matrices of a model in the order in which the products read
// them. It is a copy: Pack takes up changed parameters. After that any number
// of goroutines may read it. In float64 it is empty.
type Packed[F Float] struct {
	model    *Model[F]
	matrices []packedMatrix // emb, then wqkv, wo, w1, w2 of each layer
}

type packedMatrix struct {
	at         span
	rows, cols int
	forward    *fastblas.Packed
	backward   *fastblas.Packed // nil if only for forward passes
}

// NewPacked returns room for the packed matrices of m, with those of the
// backward pass if backward is set. It holds nothing until Pack.
func (m *Model[F]) NewPacked(backward bool) *Packed[F] {
	p := &Packed[F]{model: m}
	if !is32[F]() {
		return p
	}
	add := func(at span, rows, cols int, transposed bool) {
		k := packedMatrix{at: at, rows: rows, cols: cols}
		a, b := rows, cols
		if transposed {
			a, b = cols, rows
		}
		k.forward = fastblas.NewPacked(a, b)
		if backward {
			k.backward = fastblas.NewPacked(b, a)
		}
		p.matrices = append(p.matrices, k)
	}
	add(m.at.emb, m.cfg.Vocab, m.cfg.Dim, true)
	for l := range m.at.layer {
		for mat := range matsPerLayer {
			at, rows, cols := m.matrix(l, mat)
			add(at, rows, cols, false)
		}
	}
	return p
}

// Pack takes up the parameters of part i of n: of every n-th matrix.
func (p *Packed[F]) Pack(i, n int) {
	for k := i; k < len(p.matrices); k += n {
		x := &p.matrices[k]
		w := as32(in(p.model.params, x.at))
		// The embeddings, first, are multiplied transposed.
		if k == 0 {
			x.forward.PackTrans(w, x.cols)
			if x.backward != nil {
				x.backward.Pack(w, x.cols)
			}
			continue
		}
		x.forward.Pack(w, x.cols)
		if x.backward != nil {
			x.backward.PackTrans(w, x.cols)
		}
	}
}

// The places of a layer's matrices.
const (
	matQKV = iota
	matOut
	matUp
	matDown
	matsPerLayer
)

// forward sets c to (or with acc adds) a times matrix mat of layer l; layer -1
// is the output matrix, the transposed embeddings. a and c have dense rows.
func (p *Packed[F]) forward(ws *fastblas.Workspace, acc bool, n int, a []F, l, mat int, c []F) {
	p.multiply(ws, acc, n, a, l, mat, c, false)
}

// backward is forward with the transposed matrix.
func (p *Packed[F]) backward(ws *fastblas.Workspace, n int, a []F, l, mat int, c []F) {
	p.multiply(ws, false, n, a, l, mat, c, true)
}

func (p *Packed[F]) multiply(ws *fastblas.Workspace, acc bool, n int, a []F, l, mat int, c []F, backward bool) {
	if is32[F]() {
		k := 0
		if l >= 0 {
			k = 1 + l*matsPerLayer + mat
		}
		b := p.matrices[k].forward
		if backward {
			b = p.matrices[k].backward
		}
		fastblas.GemmPacked(as32(c), b.Cols(), as32(a), b.Rows(), b, n, fastblas.Epilogue{Accumulate: acc}, ws)
		return
	}
	m := p.model
	at, rows, cols, transposed := m.at.emb, m.cfg.Vocab, m.cfg.Dim, true
	if l >= 0 {
		at, rows, cols = m.matrix(l, mat)
		transposed = false
	}
	w := in(m.params, at)
	if transposed != backward {
		gemmNT(ws, acc, n, rows, cols, a, cols, w, cols, c, rows)
		return
	}
	gemmNN(ws, acc, n, cols, rows, a, rows, w, cols, c, cols)
}

// matrix is where matrix mat of layer l lies, and its shape.
func (m *Model[F]) matrix(l, mat int) (at span, rows, cols int) {
	c, y := m.cfg, m.at.layer[l]
	E := c.HeadDim()
	switch mat {
	case matQKV:
		return y.wqkv, c.Dim, (c.Heads + 2*c.KVHeads) * E
	case matOut:
		return y.wo, c.Heads * E, c.Dim
	case matUp:
		return y.w1, c.Dim, c.upWidth()
	}
	return y.w2, c.FF, c.Dim
}
