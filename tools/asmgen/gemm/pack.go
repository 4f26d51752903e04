package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

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
