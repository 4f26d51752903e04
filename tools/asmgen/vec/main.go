// Command vec writes the AVX2 elementwise kernels of trainer/fastblas/vec.
//
// Elementwise kernels do the same to every element wherever it stands. A
// reduction adds in an order that the length alone decides.
package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	maskTable()
	simple()
	reductions()
	activations()
	softmax()
	norms()
	optimizer()
	Generate()
}

// maskTable lays out 8 lanes of ones and 8 of zeros: the 8 lanes that begin
// 8-n before the border keep the first n.
func maskTable() {
	GLOBL("lanemask", RODATA|NOPTR)
	for i := range 16 {
		v := uint32(0)
		if i < 8 {
			v = 0xffffffff
		}
		DATA(4*i, U32(v))
	}
}

var constants = map[uint32]Mem{}

// bits is 8 lanes of one constant in memory.
func bits(b uint32) Mem {
	if m, ok := constants[b]; ok {
		return m
	}
	m := GLOBL(fmt.Sprintf("c%08x", b), RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(b))
	}
	constants[b] = m
	return m
}

func num(x float32) Mem { return bits(math.Float32bits(x)) }

func begin(name, sig, doc string) {
	TEXT(name, NOSPLIT, "func("+sig)
	Doc(name + " " + doc)
	Pragma("noescape")
}

func end() {
	VZEROUPPER()
	RET()
}

func gp(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

func gps(names ...string) []reg.GPVirtual {
	r := make([]reg.GPVirtual, len(names))
	for i, n := range names {
		r[i] = gp(n)
	}
	return r
}

func scalarMem(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// broadcast loads a float32 parameter into all lanes.
func broadcast(name string) reg.VecVirtual {
	y := YMM()
	VBROADCASTSS(scalarMem(name), y)
	return y
}

func zero() reg.VecVirtual {
	y := YMM()
	VXORPS(y, y, y)
	return y
}

func constant(m Mem) reg.VecVirtual {
	y := YMM()
	VMOVUPS(m, y)
	return y
}

var labels int

func label(s string) string {
	labels++
	return fmt.Sprintf("%s%d", s, labels)
}

// lanes is 8 elements at the current place of every pointer, or fewer where
// there is a mask.
type lanes struct {
	ptr  []reg.GPVirtual
	mask reg.VecVirtual
	part bool
	off  int
}

func (l lanes) load(i int) reg.VecVirtual {
	y := YMM()
	m := Mem{Base: l.ptr[i], Disp: 32 * l.off}
	if l.part {
		VMASKMOVPS(m, l.mask, y)
	} else {
		VMOVUPS(m, y)
	}
	return y
}

func (l lanes) store(i int, y reg.VecVirtual) {
	m := Mem{Base: l.ptr[i], Disp: 32 * l.off}
	if l.part {
		VMASKMOVPS(y, l.mask, m)
	} else {
		VMOVUPS(y, m)
	}
}

// keep zeroes the lanes that are not there.
func (l lanes) keep(y reg.VecVirtual) {
	if l.part {
		VANDPS(l.mask, y, y)
	}
}

// each runs body over n elements, wide groups of 8 a turn as long as they
// last, then 8, then the rest under a mask. It uses up n and the pointers.
func each(ptr []reg.GPVirtual, n reg.GPVirtual, wide int, body func(l lanes)) {
	advance := func(k int) {
		for _, p := range ptr {
			ADDQ(Imm(uint64(32*k)), p)
		}
	}
	turn := func(k int) {
		loop, out := label("loop"), label("out")
		SUBQ(Imm(uint64(8*k)), n)
		JL(LabelRef(out))
		Label(loop)
		for o := range k {
			body(lanes{ptr: ptr, off: o})
		}
		advance(k)
		SUBQ(Imm(uint64(8*k)), n)
		JGE(LabelRef(loop))
		Label(out)
		ADDQ(Imm(uint64(8*k)), n)
	}
	if wide > 1 {
		turn(wide)
	}
	turn(1)
	done := label("done")
	JZ(LabelRef(done))
	t, m := GP64(), YMM()
	LEAQ(NewDataAddr(Symbol{Name: "lanemask", Static: true}, 32), t)
	SHLQ(Imm(2), n)
	SUBQ(n, t)
	VMOVUPS(Mem{Base: t}, m)
	body(lanes{ptr: ptr, mask: m, part: true})
	Label(done)
}

// horizontal adds the 8 lanes of y: halves first, then pairs.
func horizontal(y reg.VecVirtual) reg.VecVirtual {
	hi, lo := XMM(), XMM()
	VEXTRACTF128(Imm(1), y, hi)
	VADDPS(y.AsX(), hi, lo)
	VMOVHLPS(lo, lo, hi)
	VADDPS(lo, hi, lo)
	VMOVSHDUP(lo, hi)
	VADDSS(lo, hi, lo)
	return lo
}

// exp replaces x by its exponential. The argument is cut into a whole number
// of halvings and a rest of at most half of one; a polynomial does the rest
// (coefficients of the Cephes library), and the power of two is applied in two
// steps so that results beyond the normal range round once. NaN stays NaN.
func exp(x reg.VecVirtual) {
	n, y, i, j := YMM(), YMM(), YMM(), YMM()
	// The second source is what MIN and MAX return for a NaN.
	VMOVUPS(num(89), y)
	VMINPS(x, y, x)
	VMOVUPS(num(-104), y)
	VMAXPS(x, y, x)
	VMULPS(num(1.44269504088896341), x, n)
	VROUNDPS(Imm(8), n, n)
	VFNMADD231PS(num(0.693359375), n, x)
	VFNMADD231PS(num(-2.12194440e-4), n, x)
	VMOVUPS(num(1.9875691500e-4), y)
	for _, c := range []float32{1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1, 1, 1} {
		VFMADD213PS(num(c), x, y)
	}
	VCVTPS2DQ(n, i)
	VPSRAD(Imm(1), i, j)
	VPSUBD(j, i, i)
	for _, k := range []reg.VecVirtual{i, j} {
		VPADDD(bits(127), k, k)
		VPSLLD(Imm(23), k, k)
	}
	VMULPS(i, y, y)
	VMULPS(j, y, x)
}
