// Command attention-arm64 writes the NEON kernels of trainer/nn: the same
// functions as command attention writes for AVX2, with the same results.
//
// Every element is one chain of fused multiply-adds in ascending order of what
// it sums over.
package main

import (
	"fmt"
	"os"

	"github.com/proctor-rl/proctor/tools/asmgen/neon"
)

func main() {
	f := neon.Start()
	scores(f)
	mixRows(f)
	mixPair(f)
	mulAdd(f)
	if err := f.Finish(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The registers that hold columns and a weight for a moment.
const (
	vColumns = 24 // to 27
	vWeight  = 28 // and 29
)

// multiply adds lane 0 of x times the floats from a pointer on to accumulators,
// 8 columns or 16 at a time, and moves the pointer past them if it is told to.
func multiply(f *neon.File, at, x int, acc []int, move bool) {
	for i := 0; i < len(acc); i += 4 {
		n := min(4, len(acc)-i)
		for j := 0; j < n; j += 2 {
			f.I("FLDPQ %d(R%d), (F%d, F%d)", 16*(i+j), at, vColumns+j, vColumns+j+1)
		}
		for j := range n {
			f.FmlaLane(acc[i+j], vColumns+j, x, 0)
		}
	}
	if move {
		f.I("ADD $%d, R%d", 16*len(acc), at)
	}
}

func store(f *neon.File, acc []int, to int) {
	for i := 0; i < len(acc); i += 2 {
		f.I("FSTPQ (F%d, F%d), %d(R%d)", acc[i], acc[i+1], 16*i, to)
	}
}

// scores takes as many panels side by side as hide the latency of the chains:
// of 7 panels 4 and 3, of 8 panels 4 and 4.
func scores(f *neon.File) {
	f.Func("scoresKernel", "s, q, kp *float32, n, e int)",
		"sets s[j] to the sum over i < e of q[i]*kp[j/16*16*e+i*16+j%16], a chain in ascending i, for j < n rounded up to 16.")
	const s, q, kp, n, e, pitch, panel, at, left = 0, 1, 2, 3, 4, 5, 6, 12, 13
	f.Load(s, "s", "q", "kp", "n", "e")
	f.I("ADD $15, R%d", n)
	f.I("LSR $4, R%d", n)
	f.I("LSL $6, R%d, R%d", e, pitch)

	f.Label("next")
	for _, c := range []struct{ least, most, take int }{{9, 0, 6}, {6, 6, 6}, {5, 5, 5}, {4, 0, 4}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}} {
		f.I("CMP $%d, R%d", c.least, n)
		if c.most == 0 {
			f.I("BGE panels%d", c.take)
		} else {
			f.I("BEQ panels%d", c.take)
		}
	}
	f.I("RET")
	for take := 6; take > 0; take-- {
		f.Label(fmt.Sprintf("panels%d", take))
		acc := neon.Range(0, 4*take)
		f.Zero(acc...)
		f.I("MOVD R%d, R%d", kp, panel)
		for i := 1; i < take; i++ {
			f.I("ADD R%d, R%d, R%d", pitch, panel+i-1, panel+i)
		}
		f.I("MOVD R%d, R%d", q, at)
		f.I("MOVD R%d, R%d", e, left)
		f.I("PCALIGN $16")
		f.Label(fmt.Sprintf("steps%d", take))
		f.I("FMOVS.P 4(R%d), F%d", at, vWeight)
		for i := range take {
			multiply(f, panel+i, vWeight, acc[4*i:4*i+4], true)
		}
		f.I("SUBS $1, R%d", left)
		f.I("BNE steps%d", take)
		store(f, acc, s)
		if take != 6 && take != 4 {
			f.I("RET")
			continue
		}
		f.I("ADD $%d, R%d", 64*take, s)
		f.I("MOVD R%d, R%d", panel+take-1, kp) // which stands at the next by now
		f.I("SUB $%d, R%d", take, n)
		f.I("B next")
	}
}

// twoRuns writes the loop over n0 rows, if there are any, and then over n more:
// own moves the pointers to those.
func twoRuns(f *neon.File, label string, n0, n, left, second int, row, own func()) {
	f.I("MOVD R%d, R%d", n0, left)
	f.I("MOVD ZR, R%d", second)
	f.I("CBZ R%d, %sown", left, label)
	f.I("PCALIGN $16")
	f.Label(label)
	row()
	f.I("SUBS $1, R%d", left)
	f.I("BNE %s", label)
	f.I("CBNZ R%d, %send", second, label)
	f.Label(label + "own")
	own()
	f.I("MOVD R%d, R%d", n, left)
	f.I("MOVD $1, R%d", second)
	f.I("B %s", label)
	f.Label(label + "end")
}

func mixRows(f *neon.File) {
	f.Func("mixRowsKernel", "out, p, v0, v *float32, ld, n0, n, e int)",
		"sets out[i] to the sum over j < n0+n of p[j]*row[j][i], a chain in ascending j, for i < e, a multiple of 8. The first n0 rows lie at v0, the others, one at least, at v. Rows of zero weight at the end change nothing.")
	const out, p, v0, v, ld, n0, n, e, weight, row, left, second = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	f.Load(out, "out", "p", "v0", "v", "ld", "n0", "n", "e")
	f.I("LSL $2, R%d", ld)
	for _, columns := range []int{64, 32, 16, 8} {
		block := fmt.Sprintf("columns%d", columns)
		f.Label(block)
		f.I("CMP $%d, R%d", columns, e)
		f.I("BLT %sdone", block)
		acc := neon.Range(0, columns/4)
		f.Zero(acc...)
		f.I("MOVD R%d, R%d", p, weight)
		f.I("MOVD R%d, R%d", v0, row)
		twoRuns(f, block+"rows", n0, n, left, second, func() {
			f.I("FMOVS.P 4(R%d), F%d", weight, vWeight)
			multiply(f, row, vWeight, acc, false)
			f.I("ADD R%d, R%d", ld, row)
		}, func() { f.I("MOVD R%d, R%d", v, row) })
		store(f, acc, out)
		for _, r := range []int{out, v0, v} {
			f.I("ADD $%d, R%d", 4*columns, r)
		}
		f.I("SUB $%d, R%d", columns, e)
		f.I("B %s", block)
		f.Label(block + "done")
	}
	f.I("RET")
}

func mixPair(f *neon.File) {
	f.Func("mixPairKernel", "out, p *float32, ps int, v0a, v0b, va, vb *float32, n0, n int)",
		"is mixRowsKernel for two heads of 32 elements at once, since one has too few chains to hide their latency: dense rows at v0a and va with the weights p for the first 32 of out, rows at v0b and vb with those ps further for the next.")
	const out, p, ps, a, b, va, vb, n0, n, q, left, second = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	f.Load(out, "out", "p", "ps", "v0a", "v0b", "va", "vb", "n0", "n")
	f.I("ADD R%d<<2, R%d, R%d", ps, p, q)
	acc := neon.Range(0, 16)
	f.Zero(acc...)
	twoRuns(f, "rows", n0, n, left, second, func() {
		f.I("FMOVS.P 4(R%d), F%d", p, vWeight)
		f.I("FMOVS.P 4(R%d), F%d", q, vWeight+1)
		multiply(f, a, vWeight, acc[:8], true)
		multiply(f, b, vWeight+1, acc[8:], true)
	}, func() {
		f.I("MOVD R%d, R%d", va, a)
		f.I("MOVD R%d, R%d", vb, b)
	})
	store(f, acc, out)
	f.I("RET")
}

func mulAdd(f *neon.File) {
	f.Func("mulAddKernel", "dst, x, y *float32, n int)", "sets dst[i] += x[i]*y[i] for i < n, a multiple of 8.")
	const dst, x, y, n = 0, 1, 2, 3
	f.Load(dst, "dst", "x", "y", "n")
	f.Label("loop")
	f.I("FLDPQ.P 32(R%d), (F0, F1)", x)
	f.I("FLDPQ.P 32(R%d), (F2, F3)", y)
	f.I("FLDPQ (R%d), (F4, F5)", dst)
	f.I("VFMLA V0.S4, V2.S4, V4.S4")
	f.I("VFMLA V1.S4, V3.S4, V5.S4")
	f.I("FSTPQ.P (F4, F5), 32(R%d)", dst)
	f.I("SUBS $8, R%d", n)
	f.I("BGT loop")
	f.I("RET")
}
