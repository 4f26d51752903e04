package fastblas

// packA packs rows [ic,ic+rows) of the current block of the inner index into
// tiles of mr rows, each a run of columns. rows is a multiple of mr.
func (g *product) packA(ic, rows int) {
	pitch := tilePitch(g.kc)
	for i := 0; i < rows; {
		src := at(g.a, (ic+i)*g.rsA+g.kcBase*g.csA)
		dst := &g.ws.a[i/mr*pitch]
		switch {
		case g.rsA != 1:
			transposeRows(mr, g.kc, src, g.rsA, dst, mr)
			i += mr
		case i+8*mr <= rows:
			copyRows48(g.kc, src, g.csA, dst, pitch)
			i += 8 * mr
		default:
			copyRows6(g.kc, src, g.csA, dst)
			i += mr
		}
	}
}

// tilePitch is the distance between packed tiles of a: packing may write two
// elements past the end of each.
func tilePitch(kc int) int { return mr*kc + 8 }

// packB packs columns [jc,jc+ncb) of the current block of the inner index.
func (g *product) packB(jc, ncb int) {
	for j := 0; j < ncb; j += nr {
		start := g.kcBase*g.ldb + jc + j
		if g.transB {
			start = (jc+j)*g.ldb + g.kcBase
		}
		packColumns(&g.ws.b[j*g.kc], at(g.b, start), g.ldb, g.transB, g.kc, min(nr, ncb-j))
	}
}

// packColumns packs n <= nr columns into one panel of kc rows, filled up with
// zeros. With trans the columns are stored as rows of src.
func packColumns(dst, src *float32, ld int, trans bool, kc, n int) {
	if !trans {
		copyRows16(kc, src, ld, dst, n)
		return
	}
	if n < nr {
		for p := range kc {
			*(*[nr]float32)(ptr(at(dst, p*nr))) = [nr]float32{}
		}
	}
	i := 0
	for ; i+8 <= n; i += 8 {
		transposeRows(8, kc, at(src, i*ld), ld, at(dst, i), nr)
	}
	for ; i < n; i++ {
		for p := range kc {
			*at(dst, p*nr+i) = *at(src, i*ld+p)
		}
	}
}

// A Packed is the right-hand matrix of a product, k by n, in the order in
// which the kernels read it: for every 256 rows, panels of 16 columns, each
// panel row by row, the last one filled up with zeros.
//
// Weights are packed once per update and then used by any number of products,
// also by several goroutines at once.
type Packed struct {
	k, n int
	data []float32
}

// NewPacked returns room for a matrix of k rows and n columns, all zero.
func NewPacked(k, n int) *Packed {
	if k < 0 || n < 0 {
		panic(negativeSize)
	}
	return &Packed{k: k, n: n, data: make([]float32, k*roundUp(n))}
}

func roundUp(n int) int { return (n + nr - 1) / nr * nr }

// Rows is the number of rows of the matrix, the inner size of a product.
func (p *Packed) Rows() int { return p.k }

// Cols is the number of columns of the matrix.
func (p *Packed) Cols() int { return p.n }

// Pack takes up b, stored k by n with rows ldb apart: a product then is a*b.
func (p *Packed) Pack(b []float32, ldb int) {
	checkMatrix(p.k, p.n, b, ldb, badB)
	p.pack(b, ldb, false)
}

// PackTrans takes up the transpose of b, which is stored n by k with rows ldb
// apart, as the weights of a layer are that maps k inputs to n outputs: a
// product then is a*bᵀ.
func (p *Packed) PackTrans(b []float32, ldb int) {
	checkMatrix(p.n, p.k, b, ldb, badB)
	p.pack(b, ldb, true)
}

func (p *Packed) pack(b []float32, ldb int, trans bool) {
	if p.k == 0 || p.n == 0 {
		return
	}
	for pc := 0; pc < p.k; pc += kcMax {
		kc := min(kcMax, p.k-pc)
		for j := 0; j < p.n; j += nr {
			src := pc*ldb + j
			if trans {
				src = j*ldb + pc
			}
			packColumns(p.panel(pc, kc, j), &b[src], ldb, trans, kc, min(nr, p.n-j))
		}
	}
}

// panel is the start of the panel of column j, a multiple of nr, in the block
// of kc rows at pc.
func (p *Packed) panel(pc, kc, j int) *float32 {
	return &p.data[pc*roundUp(p.n)+j*kc]
}
