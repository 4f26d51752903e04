package main

import (
	"fmt"

	"github.com/proctor-rl/proctor/tools/asmgen/neon"
)

// transpose writes a kernel that reads rows of src, 8 elements at a time, and
// writes them as columns: dst[p*ds + i] = src[i*ld + p].
func transpose(f *neon.File, rows int) {
	name := fmt.Sprintf("transpose%d", rows)
	f.Func(name, "blocks int, src *float32, ld int, dst *float32, ds int)",
		fmt.Sprintf("writes %d rows of src, 8*blocks long and ld bytes apart, as columns: rows of dst that are ds bytes apart.", rows))
	const n, src, ld, dst, ds, in, out = 0, 1, 2, 3, 4, 5, 6
	f.Load(n, "blocks", "src", "ld", "dst", "ds")
	f.Label("block")
	f.I("MOVD R%d, R%d", src, in)
	for i := range rows {
		f.I("FLDPQ (R%d), (F%d, F%d)", in, 2*i, 2*i+1)
		if i+1 < rows {
			f.I("ADD R%d, R%d", ld, in)
		}
	}
	f.I("ADD $32, R%d", src)
	for half := range 2 {
		row := func(i int) int { return 2*i + half }
		// Pairs of rows, then pairs of pairs: registers 16 to 31 hold the
		// columns, 4 rows of each side by side, two of them where rows end.
		for i := 0; i < rows; i += 2 {
			f.I("VZIP1 V%d.S4, V%d.S4, V%d.S4", row(i+1), row(i), 16+i)
			f.I("VZIP2 V%d.S4, V%d.S4, V%d.S4", row(i+1), row(i), 17+i)
		}
		for i := 0; i+4 <= rows; i += 4 {
			for j := range 2 {
				f.I("VZIP1 V%d.D2, V%d.D2, V%d.D2", 18+i+j, 16+i+j, 24+i+2*j)
				f.I("VZIP2 V%d.D2, V%d.D2, V%d.D2", 18+i+j, 16+i+j, 25+i+2*j)
			}
		}
		for p := range 4 {
			f.I("FMOVQ F%d, (R%d)", 24+p, dst)
			switch {
			case rows == 8:
				f.I("FMOVQ F%d, 16(R%d)", 28+p, dst)
			case p%2 == 0:
				f.I("FMOVD F%d, 16(R%d)", 20+p/2, dst)
			default:
				f.I("ADD $16, R%d, R%d", dst, out)
				f.I("VST1 V%d.D[1], (R%d)", 20+p/2, out)
			}
			f.I("ADD R%d, R%d", ds, dst)
		}
	}
	f.I("SUBS $1, R%d", n)
	f.I("BNE block")
	f.I("RET")
}

// copyRows writes the kernels that pack rows which already run the right way.
func copyRows(f *neon.File) {
	const rows, src, ld, dst, n, in, out = 0, 1, 2, 3, 4, 5, 6
	next := func(label string, size int) {
		f.I("ADD R%d, R%d", ld, src)
		f.I("ADD $%d, R%d", size, dst)
		f.I("SUBS $1, R%d", rows)
		f.I("BNE %s", label)
	}
	f.Func("copy16", "rows int, src *float32, ld int, dst *float32, n int)",
		"copies the first n <= 16 elements of rows that are ld bytes apart into rows of 16, filled up with zeros.")
	f.Load(rows, "rows", "src", "ld", "dst", "n")
	f.I("CMP $16, R%d", n)
	f.I("BNE partial")
	f.Label("full")
	f.I("FLDPQ (R%d), (F0, F1)", src)
	f.I("FLDPQ 32(R%d), (F2, F3)", src)
	f.I("FSTPQ (F0, F1), (R%d)", dst)
	f.I("FSTPQ (F2, F3), 32(R%d)", dst)
	next("full", 64)
	f.I("RET")
	f.Label("partial")
	f.Zero(2)
	f.Label("row")
	f.I("FSTPQ (F2, F2), (R%d)", dst)
	f.I("FSTPQ (F2, F2), 32(R%d)", dst)
	f.I("MOVD R%d, R%d", src, in)
	f.I("MOVD R%d, R%d", dst, out)
	pieces(f, n, func(columns int) {
		if columns == 8 {
			f.I("FLDPQ.P 32(R%d), (F0, F1)", in)
			f.I("FSTPQ.P (F0, F1), 32(R%d)", out)
			return
		}
		f.I("%s.P %d(R%d), F0", move(columns), 4*columns, in)
		f.I("%s.P F0, %d(R%d)", move(columns), 4*columns, out)
	})
	next("row", 64)
	f.I("RET")

	f.Func("copy6", "rows int, src *float32, ld int, dst *float32)",
		"copies the first 6 elements of rows that are ld bytes apart into rows of 6.")
	f.Load(rows, "rows", "src", "ld", "dst")
	f.Label("row")
	f.I("FMOVQ (R%d), F0", src)
	f.I("FMOVD 16(R%d), F1", src)
	f.I("FMOVQ F0, (R%d)", dst)
	f.I("FMOVD F1, 16(R%d)", dst)
	next("row", 24)
	f.I("RET")

	f.Func("copy48", "rows int, src *float32, ld int, dst *float32, pitch int)",
		"copies the first 48 elements of rows that are ld bytes apart into 8 blocks of rows of 6, pitch bytes apart.")
	const pitch = n
	f.Load(rows, "rows", "src", "ld", "dst", "pitch")
	f.Label("row")
	f.I("MOVD R%d, R%d", src, in)
	f.I("MOVD R%d, R%d", dst, out)
	for range 8 {
		f.I("FMOVQ (R%d), F0", in)
		f.I("FMOVD 16(R%d), F1", in)
		f.I("FMOVQ F0, (R%d)", out)
		f.I("FMOVD F1, 16(R%d)", out)
		f.I("ADD $24, R%d", in)
		f.I("ADD R%d, R%d", pitch, out)
	}
	next("row", 24)
	f.I("RET")
}
