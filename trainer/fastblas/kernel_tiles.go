//go:build (amd64 || arm64) && !purego

package fastblas

// kernels names the instruction set in use.
type kernels uint8

// goKernels are the ones in Go; those of the machine count on from it.
const goKernels kernels = 0

// chosen is set once, before anything runs; only tests change it.
var chosen = choose()

// Kernels names the instruction set that the package found and uses.
func Kernels() string { return kernelsNamed[chosen] }

// widePanels is how many panels the widest kernel of some rows takes.
func widePanels(rows int) int {
	switch rows {
	case 1:
		return 4
	case 2, 3:
		return 2
	}
	return 1
}

// runTiles calls the kernel of the tile: functions of one name and one result
// for AVX2 and for NEON.
func (t *tileRun) runTiles() {
	kernel := t.rows
	switch {
	case t.panels > 1:
		kernel = 20 + t.rows
	case t.n < nr:
		kernel = 10 + t.rows
	}
	switch kernel {
	case 1:
		gemm1x16(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 2:
		gemm2x16(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 3:
		gemm3x16(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 4:
		gemm4x16(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 5:
		gemm5x16(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 6:
		gemm6x16(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 11:
		gemm1x16m(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 12:
		gemm2x16m(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 13:
		gemm3x16m(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 14:
		gemm4x16m(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 15:
		gemm5x16m(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 16:
		gemm6x16m(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 21:
		gemm1x64(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 22:
		gemm2x32(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	case 23:
		gemm3x32(t.kc, t.tiles, t.a, t.rs, t.cs, t.ts, t.b, t.bs, t.ps, t.cin, t.is, t.c, t.os, t.alpha, t.n)
	default:
		panic("fastblas: no kernel for this tile")
	}
}

// transposeRows writes rows (6 or 8) rows of src, kc long, as columns: kc rows
// of dst that are ds apart. It may write two elements past the last of them.
func transposeRows(rows, kc int, src *float32, ld int, dst *float32, ds int) {
	if chosen == goKernels {
		transposeGo(rows, 0, kc, src, ld, dst, ds)
		return
	}
	if blocks := kc / 8; blocks > 0 {
		if rows == 8 {
			transpose8(blocks, src, 4*ld, dst, 4*ds)
		} else {
			transpose6(blocks, src, 4*ld, dst, 4*ds)
		}
	}
	transposeGo(rows, kc&^7, kc, src, ld, dst, ds)
}

// copyRows16 copies rows of n <= 16 elements into rows of 16.
func copyRows16(rows int, src *float32, ld int, dst *float32, n int) {
	if chosen == goKernels {
		copyGo(rows, src, ld, dst, n, nr)
		return
	}
	copy16(rows, src, 4*ld, dst, n)
}

// copyRows6 copies rows of 6 elements. It may write two elements too many.
func copyRows6(rows int, src *float32, ld int, dst *float32) {
	if chosen == goKernels {
		copyGo(rows, src, ld, dst, mr, mr)
		return
	}
	copy6(rows, src, 4*ld, dst)
}

// copyRows48 copies rows of 48 elements into 8 blocks of rows of 6 that are
// pitch apart. It may write two elements too many into each block.
func copyRows48(rows int, src *float32, ld int, dst *float32, pitch int) {
	if chosen == goKernels {
		copyBlocksGo(rows, src, ld, dst, pitch)
		return
	}
	copy48(rows, src, 4*ld, dst, 4*pitch)
}
