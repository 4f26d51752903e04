package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// unroll is how many steps of the inner index one turn of the loop does.
const unroll = 4

// tile writes the kernel of mr rows by nv vectors of 8 columns. Columns come
// in panels of 16 that are ps bytes apart; rows of a are rs and steps of the
// inner index cs bytes apart, so that a packed a, a plain one and a transposed
// one are the same to it. The kernel repeats down the rows for a number of
// tiles. A masked kernel touches the first n columns of c and cin only.
func tile(mr, nv int, masked bool) {
	name := fmt.Sprintf("gemm%dx%d", mr, 8*nv)
	what := ""
	if masked {
		name += "m"
		what = " The panel is full but c and cin have n columns only."
	}
	TEXT(name, NOSPLIT, "func(kc, tiles int, a *float32, rs, cs, ts int, b *float32, bs, ps int, cin *float32, is int, c *float32, os int, alpha float32, n int)")
	Doc(fmt.Sprintf("%s computes c = cin + alpha*a*b for tiles of %d rows and %d columns.%s", name, mr, 8*nv, what))
	Pragma("noescape")

	tiles, a0 := arg("tiles"), arg("a")
	cin, c := arg("cin"), arg("c")
	rs, cs := arg("rs"), arg("cs")
	is, os := arg("is"), arg("os")
	bs := arg("bs")
	var ps reg.GPVirtual
	if nv > 2 {
		ps = arg("ps")
	}
	a, a3, b, k := GP64(), GP64(), GP64(), GP64()

	Label("tile")
	acc := make([][]reg.VecVirtual, mr)
	for i := range acc {
		acc[i] = make([]reg.VecVirtual, nv)
		for v := range acc[i] {
			acc[i][v] = YMM()
			VXORPS(acc[i][v], acc[i][v], acc[i][v])
		}
	}
	MOVQ(a0, a)
	if mr > 3 {
		LEAQ(Mem{Base: a, Index: rs, Scale: 2}, a3)
		ADDQ(rs, a3)
	}
	Load(Param("b"), b)
	Load(Param("kc"), k)

	step := func() {
		bm := func(v int) Mem {
			m := Mem{Base: b, Disp: 32 * (v % 2)}
			switch v / 2 {
			case 1:
				m.Index, m.Scale = ps, 1
			case 2:
				m.Index, m.Scale = ps, 2
			}
			return m
		}
		rows := func(i int) Mem {
			base := a
			if i >= 3 {
				base, i = a3, i-3
			}
			m := Mem{Base: base}
			if i > 0 {
				m.Index, m.Scale = rs, uint8(i)
			}
			return m
		}
		if mr == 1 {
			// One row: the vector of b is the memory operand.
			x := YMM()
			VBROADCASTSS(rows(0), x)
			var b3 reg.GPVirtual
			if nv > 6 {
				b3 = GP64()
				LEAQ(Mem{Base: b, Index: ps, Scale: 2}, b3)
			}
			for v := range nv {
				m := bm(v)
				if v >= 6 {
					m = Mem{Base: b3, Index: ps, Scale: 1, Disp: 32 * (v % 2)}
				}
				VFMADD231PS(m, x, acc[0][v])
			}
		} else {
			bv := make([]reg.VecVirtual, nv)
			if nv == 2 {
				for v := range bv {
					bv[v] = YMM()
					VMOVUPS(bm(v), bv[v])
				}
				for i := range mr {
					x := YMM()
					VBROADCASTSS(rows(i), x)
					for v := range nv {
						VFMADD231PS(bv[v], x, acc[i][v])
					}
				}
			} else {
				xs := make([]reg.VecVirtual, mr)
				for i := range mr {
					xs[i] = YMM()
					VBROADCASTSS(rows(i), xs[i])
				}
				for v := range nv {
					w := YMM()
					VMOVUPS(bm(v), w)
					for i := range mr {
						VFMADD231PS(w, xs[i], acc[i][v])
					}
				}
			}
		}
		ADDQ(cs, a)
		if mr > 3 {
			ADDQ(cs, a3)
		}
		ADDQ(bs, b)
	}

	// The rows of c are fetched while the chains run.
	pf := GP64()
	MOVQ(c, pf)
	for i := range mr {
		for v := 0; v < nv; v += 2 {
			PREFETCHT0(Mem{Base: pf, Disp: 32 * v})
		}
		PREFETCHT0(Mem{Base: pf, Disp: 32*nv - 1})
		if i+1 < mr {
			ADDQ(os, pf)
		}
	}
	SUBQ(Imm(unroll), k)
	JL(LabelRef("rest"))
	Label("steps")
	for u := range unroll {
		if mr == 6 && u%2 == 0 {
			PREFETCHT0(Mem{Base: a, Disp: 768})
		}
		step()
	}
	SUBQ(Imm(unroll), k)
	JGE(LabelRef("steps"))
	Label("rest")
	ADDQ(Imm(unroll), k)
	JZ(LabelRef("store"))
	Label("one")
	step()
	DECQ(k)
	JNZ(LabelRef("one"))

	Label("store")
	alpha := YMM()
	addr, err := Param("alpha").Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSS(addr.Addr, alpha)
	var mask []reg.VecVirtual
	if masked {
		n, t := arg("n"), GP64()
		LEAQ(NewDataAddr(Symbol{Name: "tailmask", Static: true}, 64), t)
		SHLQ(Imm(2), n)
		SUBQ(n, t)
		mask = []reg.VecVirtual{YMM(), YMM()}
		VMOVUPS(Mem{Base: t}, mask[0])
		VMOVUPS(Mem{Base: t, Disp: 32}, mask[1])
	}
	pi, po := GP64(), GP64()
	MOVQ(cin, pi)
	MOVQ(c, po)
	for i := range mr {
		for v := range nv {
			disp := 32 * v
			x := YMM()
			if masked {
				VMASKMOVPS(Mem{Base: pi, Disp: disp}, mask[v], x)
			} else {
				VMOVUPS(Mem{Base: pi, Disp: disp}, x)
			}
			VFMADD231PS(acc[i][v], alpha, x)
			if masked {
				VMASKMOVPS(x, mask[v], Mem{Base: po, Disp: disp})
			} else {
				VMOVUPS(x, Mem{Base: po, Disp: disp})
			}
		}
		if i+1 < mr {
			ADDQ(is, pi)
			ADDQ(os, po)
		}
	}
	DECQ(tiles)
	JZ(LabelRef("done"))
	ADDQ(is, pi)
	ADDQ(os, po)
	MOVQ(pi, cin)
	MOVQ(po, c)
	ts := arg("ts")
	ADDQ(ts, a0)
	JMP(LabelRef("tile"))
	Label("done")
	VZEROUPPER()
	RET()
}
