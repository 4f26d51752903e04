//go:build amd64 && !purego

package fastblas

// widePanels512 is how many panels the AVX-512 kernel of some rows takes, a
// power of two.
func widePanels512(rows, panels int) int {
	most := 2
	switch rows {
	case 1:
		most = 8
	case 2, 3:
		most = 4
	}
	for most > panels {
		most /= 2
	}
	return most
}

// runAVX512 takes tiles of 6 rows in pairs: each load of b then serves 12.
func (t *tileRun) runAVX512() {
	pairs := t.tiles / 2
	if t.rows != mr || pairs == 0 {
		t.wide()
		return
	}
	u := *t
	u.rows, u.tiles = 2*mr, pairs
	u.wide()
	if t.tiles > 2*pairs {
		rows := 2 * mr * pairs
		u.rows, u.tiles = mr, 1
		u.a, u.cin, u.c = at(t.a, 2*pairs*t.ts/4), at(t.cin, rows*t.is/4), at(t.c, rows*t.os/4)
		u.wide()
	}
}

func (t *tileRun) wide() {
	switch 10*t.rows + t.panels {
	case 11:
		wide1x16(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 12:
		wide1x32(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 14:
		wide1x64(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 18:
		wide1x128(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 21:
		wide2x16(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 22:
		wide2x32(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 24:
		wide2x64(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 31:
		wide3x16(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 32:
		wide3x32(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 34:
		wide3x64(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 41:
		wide4x16(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 42:
		wide4x32(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 51:
		wide5x16(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 52:
		wide5x32(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 61:
		wide6x16(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 62:
		wide6x32(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 121:
		wide12x16(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 122:
		wide12x32(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	default:
		panic("fastblas: no kernel for this tile")
	}
}
