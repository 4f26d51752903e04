package main

import (
	"fmt"

	"github.com/proctor-rl/proctor/tools/asmgen/neon"
)

// unroll is how many steps of the inner index one turn of the loop does.
const unroll = 4

// The registers of a tile. Offsets of the rows of a follow rOff, pointers to
// further panels rPanel.
const (
	rTiles = iota
	rA0
	rCin
	rC
	rRs
	rCs
	rIs
	rOs
	rBs
	rA
	rB
	rK
	rTmp
	rOff   = 13 // to 17
	rPanel = 19 // to 21
	rN     = 22
	vB     = 24 // 4 columns of b each, to 27
	vA     = 28 // an element of a each, to 31
)

// tile writes the kernel of mr rows by panels of 16 columns that are ps bytes
// apart; rows of a are rs and steps of the inner index cs bytes apart. A masked
// kernel touches the first n columns of c and cin only.
//
// An element of a is one lane, which the multiply-add takes as it is: to spread
// it over a register first would take a turn of the pipelines that multiply.
func tile(f *neon.File, mr, panels int, masked bool) {
	name, what := fmt.Sprintf("gemm%dx%d", mr, 16*panels), ""
	if masked {
		name += "m"
		what = " The panel is full but c and cin have n columns only."
	}
	f.Func(name, "kc, tiles int, a *float32, rs, cs, ts int, b *float32, bs, ps int, cin *float32, is int, c *float32, os int, alpha float32, n int)",
		fmt.Sprintf("computes c = cin + alpha*a*b for tiles of %d rows and %d columns.%s", mr, 16*panels, what))
	f.Load(rTiles, "tiles", "a", "cin", "c", "rs", "cs", "is", "os", "bs")
	if masked {
		f.Load(rN, "n")
	}
	for i := 1; i < mr; i++ {
		if i == 1 {
			f.I("MOVD R%d, R%d", rRs, rOff)
		} else {
			f.I("ADD R%d, R%d, R%d", rRs, rOff+i-2, rOff+i-1)
		}
	}

	f.Label("tile")
	nv := 4 * panels
	acc := func(i, v int) int { return i*nv + v }
	f.Zero(neon.Range(0, mr*nv)...)
	f.I("MOVD R%d, R%d", rA0, rA)
	f.Load(rB, "b", "kc")
	bases := []int{rB}
	if panels > 1 {
		f.Load(rTmp, "ps")
		for p := 1; p < panels; p++ {
			f.I("ADD R%d, R%d, R%d", rTmp, bases[p-1], rPanel+p-1)
			bases = append(bases, rPanel+p-1)
		}
	}
	step := func() {
		loadA := func(i int) {
			if i == 0 {
				f.I("FMOVS (R%d), F%d", rA, vA)
			} else {
				f.I("FMOVS (R%d)(R%d), F%d", rA, rOff+i-1, vA+i%4)
			}
		}
		for i := range min(mr, 4) {
			loadA(i)
		}
		for p, base := range bases {
			f.I("FLDPQ (R%d), (F%d, F%d)", base, vB, vB+1)
			f.I("FLDPQ 32(R%d), (F%d, F%d)", base, vB+2, vB+3)
			f.I("ADD R%d, R%d", rBs, base)
			for i := range mr {
				for v := range 4 {
					f.FmlaLane(acc(i, 4*p+v), vB+v, vA+i%4, 0)
				}
				if i+4 < mr {
					loadA(i + 4)
				}
			}
		}
		f.I("ADD R%d, R%d", rCs, rA)
	}
	f.I("SUBS $%d, R%d", unroll, rK)
	f.I("BLT rest")
	f.I("PCALIGN $16")
	f.Label("steps")
	for range unroll {
		step()
	}
	f.I("SUBS $%d, R%d", unroll, rK)
	f.I("BGE steps")
	f.Label("rest")
	f.I("ADDS $%d, R%d", unroll, rK)
	f.I("BEQ store")
	f.Label("one")
	step()
	f.I("SUBS $1, R%d", rK)
	f.I("BNE one")

	f.Label("store")
	f.I("FMOVS %s, F%d", f.Arg("alpha"), vA)
	for i := range mr {
		if masked {
			storePieces(f, acc(i, 0))
		} else {
			for v := 0; v < nv; v += 2 {
				f.I("FLDPQ %d(R%d), (F%d, F%d)", 16*v, rCin, vB, vB+1)
				f.FmlaLane(vB, acc(i, v), vA, 0)
				f.FmlaLane(vB+1, acc(i, v+1), vA, 0)
				f.I("FSTPQ (F%d, F%d), %d(R%d)", vB, vB+1, 16*v, rC)
			}
		}
		f.I("ADD R%d, R%d", rIs, rCin)
		f.I("ADD R%d, R%d", rOs, rC)
	}
	f.Load(rTmp, "ts")
	f.I("ADD R%d, R%d", rTmp, rA0)
	f.I("SUBS $1, R%d", rTiles)
	f.I("BNE tile")
	f.I("RET")
}

// storePieces stores the first n columns of the four registers from s, which
// it uses up.
func storePieces(f *neon.File, s int) {
	const in, out = rA, rB // free after the last step
	f.I("MOVD R%d, R%d", rCin, in)
	f.I("MOVD R%d, R%d", rC, out)
	pieces(f, rN, func(columns int) {
		size := 4 * columns
		if columns == 8 {
			f.I("FLDPQ.P %d(R%d), (F%d, F%d)", size, in, vB, vB+1)
			f.FmlaLane(vB, s, vA, 0)
			f.FmlaLane(vB+1, s+1, vA, 0)
			f.I("FSTPQ.P (F%d, F%d), %d(R%d)", vB, vB+1, size, out)
			f.I("VMOV V%d.B16, V%d.B16", s+2, s)
			f.I("VMOV V%d.B16, V%d.B16", s+3, s+1)
			return
		}
		// The lanes beyond are computed from zeros and not stored.
		f.I("%s.P %d(R%d), F%d", move(columns), size, in, vB)
		f.FmlaLane(vB, s, vA, 0)
		f.I("%s.P F%d, %d(R%d)", move(columns), vB, size, out)
		switch columns {
		case 4:
			f.I("VMOV V%d.B16, V%d.B16", s+1, s)
		case 2:
			f.I("VMOV V%d.D[1], V%d.D[0]", s, s)
		}
	})
}
