package fastblas

// PanelWidth is the number of columns that lie side by side in a panel.
const PanelWidth = nr

// The panels of a matrix b, k by n, hold 16 of its columns each, row by row,
// the last one filled up with zeros: element (l,j) is at
// (j/16*k+l)*16 + j%16. Attention keeps its operands so, because it uses each
// of them many times and its products are too small to pack them anew.

const badPanels = "fastblas: the panels are too short"

// PackPanels writes the panels of b, stored k by n with rows ldb apart, to dst.
func PackPanels(dst, b []float32, ldb, k, n int) {
	checkMatrix(k, n, b, ldb, badB)
	if len(dst) < roundUp(n)*k {
		panic(badPanels)
	}
	if k == 0 {
		return
	}
	for j := 0; j < n; j += nr {
		copyRows16(k, &b[j], ldb, &dst[j*k], min(nr, n-j))
	}
}

// PackPanelsTrans writes the panels of the transpose of b, which is stored n by
// k with rows ldb apart, to dst.
func PackPanelsTrans(dst, b []float32, ldb, k, n int) {
	checkMatrix(n, k, b, ldb, badB)
	if len(dst) < roundUp(n)*k {
		panic(badPanels)
	}
	if k == 0 {
		return
	}
	for j := 0; j < n; j += nr {
		packColumns(&dst[j*k], &b[j*ldb], ldb, true, k, min(nr, n-j))
	}
}

// GemmPanels sets c, m by n with rows ldc apart, to a*b, or with add adds to
// it. Element (i,l) of a is a[i*rsA+l*csA]. The panels of b are ps elements
// apart and begin at row 0; so rows from l on are b[l*16:]. An element of c is
// one chain over all of k, not cut into blocks as in Gemm. c must not overlap a
// or b.
func GemmPanels(c []float32, ldc int, a []float32, rsA, csA int, b []float32, ps, m, n, k int, add bool) {
	checkMatrix(m, n, c, ldc, badC)
	if m == 0 || n == 0 {
		return
	}
	if k <= 0 || rsA < 0 || csA < 0 || len(a) <= (m-1)*rsA+(k-1)*csA {
		panic(badA)
	}
	if len(b) < (n-1)/nr*ps+k*nr {
		panic(badPanels)
	}
	t := tileRun{kc: k, alpha: 1, rs: 4 * rsA, cs: 4 * csA, ts: 4 * mr * rsA, bs: 4 * nr, ps: 4 * ps, os: 4 * ldc}
	if add {
		t.is = 4 * ldc
	}
	full, tails := splitRows(m)
	i := 0
	for _, part := range [...][2]int{{full / mr, mr}, {1, tails[0]}, {1, tails[1]}} {
		t.tiles, t.rows = part[0], part[1]
		if t.tiles*t.rows == 0 {
			continue
		}
		t.a = &a[i*rsA]
		for j := 0; j < n; j += t.panels * nr {
			t.setColumns(n-j, true)
			t.b, t.c, t.cin = &b[j/nr*ps], &c[i*ldc+j], &zeros[0]
			if add {
				t.cin = t.c
			}
			t.run()
		}
		i += t.tiles * t.rows
	}
}
