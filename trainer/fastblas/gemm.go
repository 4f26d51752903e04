package fastblas

import "unsafe"

// product is one multiplication: c = cin + alpha*(a*b), blocked.
type product struct {
	m, n, k    int
	alpha      float32
	a          *float32
	rsA, csA   int // strides of a, in elements
	b          *float32
	ldb        int
	transB     bool    // b is stored n by k
	packed     *Packed // used instead of b where not nil
	cin        *float32
	ldcin      int // 0 repeats one row: a bias or zeros
	stepcin    int // 1, or 0 where cin is one block of zeros
	c          *float32
	ldc        int
	act        Activation
	out        *float32
	ldout      int
	ws         *Workspace
	packsA     bool
	plainB     bool // the kernels read b as it is
	kc, kcBase int  // the current block of the inner index
}

// zeros is the cin of a product that overwrites c.
var zeros [8 * nr]float32

// at is p[i], without a bounds check: the entry points have made theirs.
func at(p *float32, i int) *float32 {
	return (*float32)(unsafe.Add(unsafe.Pointer(p), 4*i))
}

// directRows is the number of rows of a up to which packing b costs more than
// reading it where it is, and up to which columns are taken few at a time so
// that what is packed stays in the nearest cache.
const directRows = 12

// run multiplies.
func (g *product) run() {
	g.plainB = g.packed == nil && !g.transB && g.m <= directRows
	g.packsA = g.m >= mr && (g.n >= 6*nr || g.csA != 1 || g.rsA%256 == 0)
	nc := ncMax
	if g.packed == nil && g.transB && g.m <= directRows {
		nc = 4 * nr
	}
	for jc := 0; jc < g.n; jc += nc {
		ncb := min(nc, g.n-jc)
		cin, ldcin, stepcin := g.cin, g.ldcin, g.stepcin
		for pc := 0; pc < g.k; pc += kcMax {
			g.kc, g.kcBase = min(kcMax, g.k-pc), pc
			if g.packed == nil && !g.plainB {
				g.packB(jc, ncb)
			}
			for ic := 0; ic < g.m; ic += mcMax {
				g.rows(ic, min(mcMax, g.m-ic), jc, ncb, cin, ldcin, stepcin)
			}
			cin, ldcin, stepcin = g.c, g.ldc, 1
		}
	}
}

// rows does a block of mcb rows and ncb columns, packing a first where that
// pays, and applies the activation after the last block of the inner index
// while the results are still near.
func (g *product) rows(ic, mcb, jc, ncb int, cin *float32, ldcin, stepcin int) {
	t := tileRun{
		kc: g.kc, alpha: g.alpha,
		is: 4 * ldcin, os: 4 * g.ldc,
	}
	full, tails := splitRows(mcb)
	if g.packsA && full > 0 {
		g.packA(ic, full)
	}
	last := g.act != None && g.kcBase+g.kc == g.k
	width := ncb
	if last {
		width = 8 * nr
	}
	for j0 := 0; j0 < ncb; j0 += width {
		w := min(width, ncb-j0)
		if full > 0 {
			if g.packsA {
				t.a, t.rs, t.cs = &g.ws.a[0], 4, 4*mr
				t.ts = 4 * tilePitch(g.kc)
			} else {
				t.a = at(g.a, ic*g.rsA+g.kcBase*g.csA)
				t.rs, t.cs = 4*g.rsA, 4*g.csA
				t.ts = mr * t.rs
			}
			t.tiles = full / mr
			t.rows = mr
			g.columns(&t, ic, jc, j0, w, cin, ldcin, stepcin)
		}
		i := ic + full
		for _, tail := range tails {
			if tail == 0 {
				break
			}
			t.a = at(g.a, i*g.rsA+g.kcBase*g.csA)
			t.rs, t.cs, t.ts = 4*g.rsA, 4*g.csA, 0
			t.tiles, t.rows = 1, tail
			g.columns(&t, i, jc, j0, w, cin, ldcin, stepcin)
			i += tail
		}
		if last {
			g.activate(ic, mcb, jc+j0, w)
		}
	}
}

// splitRows cuts rows into a multiple of mr and at most two smaller tiles. A
// tile of one or two rows is slow, so it takes from the last whole one.
func splitRows(rows int) (full int, tails [2]int) {
	full = rows / mr * mr
	switch rest := rows - full; {
	case rest == 0:
	case rest <= 2 && full > 0:
		full -= mr
		tails = [2]int{4, rest + 2}
	default:
		tails[0] = rest
	}
	return full, tails
}

// columns runs tiles of t.rows rows, the first of them row i, over w columns
// from j0 of the block at jc.
func (g *product) columns(t *tileRun, i, jc, j0, w int, cin *float32, ldcin, stepcin int) {
	for j := j0; j < j0+w; {
		t.setColumns(j0+w-j, !g.plainB)
		switch {
		case g.packed != nil:
			t.b = g.packed.panel(g.kcBase, g.kc, jc+j)
			t.bs, t.ps = 4*nr, 4*nr*g.kc
		case g.plainB && t.n == nr:
			t.b = at(g.b, g.kcBase*g.ldb+jc+j)
			t.bs, t.ps = 4*g.ldb, 4*nr
		case g.plainB:
			packColumns(&g.ws.b[0], at(g.b, g.kcBase*g.ldb+jc+j), g.ldb, false, g.kc, t.n)
			t.b, t.bs = &g.ws.b[0], 4*nr
		default:
			t.b = &g.ws.b[j*g.kc]
			t.bs, t.ps = 4*nr, 4*nr*g.kc
		}
		t.cin = at(cin, i*ldcin+(jc+j)*stepcin)
		t.c = at(g.c, i*g.ldc+jc+j)
		t.run()
		j += t.panels * nr
	}
}

// setColumns takes the next of some columns that are left: full panels, or
// with padded also the last one, which b then has in full.
func (t *tileRun) setColumns(left int, padded bool) {
	whole := left / nr
	panels := whole
	if padded {
		panels = roundUp(left) / nr
	}
	t.panels = panelsAtOnce(t.rows, max(1, panels), whole)
	t.n = min(nr, left-(t.panels-1)*nr)
}

// tileRun is the arguments of a kernel; strides are in bytes.
type tileRun struct {
	rows, panels int
	kc, tiles    int
	a            *float32
	rs, cs, ts   int
	b            *float32
	bs, ps       int
	cin          *float32
	is           int
	c            *float32
	os           int
	alpha        float32
	n            int // columns of the last panel
}
