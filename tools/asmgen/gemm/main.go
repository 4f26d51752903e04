// Command gemm writes the AVX2 matrix kernels of trainer/fastblas.
//
// Every kernel computes a tile of c = cin + alpha*(a*b) where the product of
// one tile element is a single chain of fused multiply-adds in the order of
// the inner index. Kernels of different tile sizes therefore agree bit for bit.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// unroll is how many steps of the inner index one turn of the loop does.
const unroll = 4

func main() {
	ConstraintExpr("!purego")
	maskTable()
	for mr := 1; mr <= 6; mr++ {
		tile(mr, 2, false)
		tile(mr, 2, true)
	}
	tile(1, 8, false)
	tile(2, 4, false)
	tile(3, 4, false)
	transpose(8)
	transpose(6)
	copyRows()
	Generate()
}

// maskTable lays out 16 lanes of ones and 16 of zeros: the 16 lanes that begin
// 16-n before the border keep the first n.
func maskTable() {
	GLOBL("tailmask", RODATA|NOPTR)
	for i := range 32 {
		v := uint32(0)
		if i < 16 {
			v = 0xffffffff
		}
		DATA(4*i, U32(v))
	}
}

func arg(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

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

// transpose writes a kernel that reads rows of src, 8 elements at a time, and
// writes them as columns: dst[p*ds + i] = src[i*ld + p]. It always stores 8
// lanes; with 6 rows the last two lanes hold rubbish that the next store
// overwrites, so dst needs room for two more elements.
func transpose(rows int) {
	name := fmt.Sprintf("transpose%d", rows)
	TEXT(name, NOSPLIT, "func(blocks int, src *float32, ld int, dst *float32, ds int)")
	Doc(fmt.Sprintf("%s writes %d rows of src, 8*blocks long and ld bytes apart, as columns: rows of dst that are ds bytes apart.", name, rows))
	Pragma("noescape")
	n, src, ld, dst, ds := arg("blocks"), arg("src"), arg("ld"), arg("dst"), arg("ds")
	s3, s6, d3, d6 := GP64(), GP64(), GP64(), GP64()
	ld3, ds3 := GP64(), GP64()
	LEAQ(Mem{Base: ld, Index: ld, Scale: 2}, ld3)
	LEAQ(Mem{Base: ds, Index: ds, Scale: 2}, ds3)
	Label("block")
	LEAQ(Mem{Base: src, Index: ld3, Scale: 1}, s3)
	LEAQ(Mem{Base: s3, Index: ld3, Scale: 1}, s6)
	at := func(base, third, sixth, stride reg.GPVirtual, i int) Mem {
		b := []reg.GPVirtual{base, third, sixth}[i/3]
		m := Mem{Base: b}
		if i%3 > 0 {
			m.Index, m.Scale = stride, uint8(i%3)
		}
		return m
	}
	r := make([]reg.VecVirtual, 8)
	for i := range r {
		if i >= rows {
			r[i] = r[i-2]
			continue
		}
		r[i] = YMM()
		VMOVUPS(at(src, s3, s6, ld, i), r[i])
	}
	t := make([]reg.VecVirtual, 8)
	for i := 0; i < 8; i += 2 {
		if i >= rows {
			t[i], t[i+1] = t[i-2], t[i-1]
			continue
		}
		t[i], t[i+1] = YMM(), YMM()
		VUNPCKLPS(r[i+1], r[i], t[i])
		VUNPCKHPS(r[i+1], r[i], t[i+1])
	}
	u := make([]reg.VecVirtual, 8)
	for i := 0; i < 8; i += 4 {
		for j := range 2 {
			lo, hi := t[i+j], t[i+2+j]
			u[i+2*j], u[i+2*j+1] = YMM(), YMM()
			VSHUFPS(Imm(0x44), hi, lo, u[i+2*j])
			VSHUFPS(Imm(0xee), hi, lo, u[i+2*j+1])
		}
	}
	o := make([]reg.VecVirtual, 8)
	for i := range 4 {
		o[i], o[i+4] = YMM(), YMM()
		VPERM2F128(Imm(0x20), u[i+4], u[i], o[i])
		VPERM2F128(Imm(0x31), u[i+4], u[i], o[i+4])
	}
	LEAQ(Mem{Base: dst, Index: ds3, Scale: 1}, d3)
	LEAQ(Mem{Base: d3, Index: ds3, Scale: 1}, d6)
	for i := range o {
		VMOVUPS(o[i], at(dst, d3, d6, ds, i))
	}
	ADDQ(Imm(32), src)
	LEAQ(Mem{Base: dst, Index: ds, Scale: 8}, dst)
	DECQ(n)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// copyRows writes the kernels that pack rows which already run the right way.
func copyRows() {
	TEXT("copy16", NOSPLIT, "func(rows int, src *float32, ld int, dst *float32, n int)")
	Doc("copy16 copies the first n <= 16 elements of rows that are ld bytes apart into rows of 16, filled up with zeros.")
	Pragma("noescape")
	rows, src, ld, dst, n := arg("rows"), arg("src"), arg("ld"), arg("dst"), arg("n")
	t := GP64()
	x, y := YMM(), YMM()
	CMPQ(n, Imm(16))
	JNE(LabelRef("partial"))
	Label("full")
	VMOVUPS(Mem{Base: src}, x)
	VMOVUPS(Mem{Base: src, Disp: 32}, y)
	VMOVUPS(x, Mem{Base: dst})
	VMOVUPS(y, Mem{Base: dst, Disp: 32})
	ADDQ(ld, src)
	ADDQ(Imm(64), dst)
	DECQ(rows)
	JNZ(LabelRef("full"))
	VZEROUPPER()
	RET()
	Label("partial")
	LEAQ(NewDataAddr(Symbol{Name: "tailmask", Static: true}, 64), t)
	SHLQ(Imm(2), n)
	SUBQ(n, t)
	m0, m1 := YMM(), YMM()
	VMOVUPS(Mem{Base: t}, m0)
	VMOVUPS(Mem{Base: t, Disp: 32}, m1)
	Label("row")
	VMASKMOVPS(Mem{Base: src}, m0, x)
	VMASKMOVPS(Mem{Base: src, Disp: 32}, m1, y)
	VMOVUPS(x, Mem{Base: dst})
	VMOVUPS(y, Mem{Base: dst, Disp: 32})
	ADDQ(ld, src)
	ADDQ(Imm(64), dst)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()

	TEXT("copy6", NOSPLIT, "func(rows int, src *float32, ld int, dst *float32)")
	Doc("copy6 copies the first 6 elements of rows that are ld bytes apart into rows of 6. It writes two elements past the end of dst.")
	Pragma("noescape")
	rows, src, ld, dst = arg("rows"), arg("src"), arg("ld"), arg("dst")
	m := YMM()
	VMOVUPS(NewDataAddr(Symbol{Name: "tailmask", Static: true}, 40), m)
	Label("row6")
	z := YMM()
	VMASKMOVPS(Mem{Base: src}, m, z)
	VMOVUPS(z, Mem{Base: dst})
	ADDQ(ld, src)
	ADDQ(Imm(24), dst)
	DECQ(rows)
	JNZ(LabelRef("row6"))
	VZEROUPPER()
	RET()

	TEXT("copy48", NOSPLIT, "func(rows int, src *float32, ld int, dst *float32, pitch int)")
	Doc("copy48 copies the first 48 elements of rows that are ld bytes apart into 8 blocks of rows of 6, pitch bytes apart. It writes two elements past the end of every block.")
	Pragma("noescape")
	rows, src, ld, dst = arg("rows"), arg("src"), arg("ld"), arg("dst")
	pitch, d3, d6 := arg("pitch"), GP64(), GP64()
	m = YMM()
	VMOVUPS(NewDataAddr(Symbol{Name: "tailmask", Static: true}, 40), m)
	LEAQ(Mem{Base: dst, Index: pitch, Scale: 2}, d3)
	ADDQ(pitch, d3)
	LEAQ(Mem{Base: d3, Index: pitch, Scale: 2}, d6)
	ADDQ(pitch, d6)
	Label("row48")
	for i := range 8 {
		z := YMM()
		if i < 7 {
			VMOVUPS(Mem{Base: src, Disp: 24 * i}, z)
		} else {
			VMASKMOVPS(Mem{Base: src, Disp: 24 * i}, m, z)
		}
		d := Mem{Base: []reg.GPVirtual{dst, d3, d6}[i/3]}
		if i%3 > 0 {
			d.Index, d.Scale = pitch, uint8(i%3)
		}
		VMOVUPS(z, d)
	}
	ADDQ(ld, src)
	for _, d := range []reg.GPVirtual{dst, d3, d6} {
		ADDQ(Imm(24), d)
	}
	DECQ(rows)
	JNZ(LabelRef("row48"))
	VZEROUPPER()
	RET()
}
