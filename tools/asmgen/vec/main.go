// Command vec writes the elementwise kernels of trainer/fastblas/vec.
//
// Elementwise kernels do the same to every element wherever it stands. A
// reduction adds in an order that the length alone decides.
//
// Each kernel is described once. Its main loop is written for AVX2 and, with
// two registers of 8 lanes as the halves of one of 16, for AVX-512; the lanes
// and what is added in each stay the same, and so do the bits. What is left of
// a slice after the main loop is done by the same instructions on both.
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

// bits is 16 lanes of one constant in memory.
func bits(b uint32) Mem {
	if m, ok := constants[b]; ok {
		return m
	}
	m := GLOBL(fmt.Sprintf("c%08x", b), RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(b))
	}
	constants[b] = m
	return m
}

func num(x float32) Mem { return bits(math.Float32bits(x)) }

// What is written at the moment: whether it is a loop of AVX-512, and what the
// kernel has in registers before its loop.
var (
	wide     bool
	everyone []reg.VecVirtual   // with the same number in every lane
	pairs    [][]reg.VecVirtual // accumulators, two of which are one of 16 lanes
)

// vector declares a register of the width in use.
func vector() reg.VecVirtual {
	if wide {
		return ZMM()
	}
	return YMM()
}

// full is a register from before the loop in the width in use.
func full(v reg.VecVirtual) reg.VecVirtual {
	if wide {
		return v.AsZ().(reg.VecVirtual)
	}
	return v
}

func begin(name, sig, doc string) {
	everyone, pairs = nil, nil
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
	everyone = append(everyone, y)
	return y
}

func zero() reg.VecVirtual {
	y := YMM()
	VXORPS(y, y, y)
	return y
}

func constant(m Mem) reg.VecVirtual {
	y := vector()
	VMOVUPS(m, y)
	return y
}

var labels int

func label(s string) string {
	labels++
	return fmt.Sprintf("%s%d", s, labels)
}

// flip changes the sign.
func flip(x reg.VecVirtual) {
	if wide {
		VPXORD(bits(0x80000000), x, x)
		return
	}
	VXORPS(bits(0x80000000), x, x)
}

// lanes is 8 or 16 elements at the current place of every pointer, or fewer
// than 8 where there is a mask.
type lanes struct {
	ptr  []reg.GPVirtual
	mask reg.VecVirtual
	part bool
	off  int
}

func (l lanes) at(i int) Mem {
	return Mem{Base: l.ptr[i], Disp: int(vector().Size()) * l.off}
}

// of is the accumulator of these lanes.
func (l lanes) of(sums []reg.VecVirtual) reg.VecVirtual {
	if wide {
		return full(sums[2*l.off])
	}
	return sums[l.off]
}

func (l lanes) load(i int) reg.VecVirtual {
	y, m := vector(), l.at(i)
	if l.part {
		VMASKMOVPS(m, l.mask, y)
	} else {
		VMOVUPS(m, y)
	}
	return y
}

func (l lanes) store(i int, y reg.VecVirtual) {
	m := l.at(i)
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

// each runs body over n elements, groups of 8 by turns of many as long as they
// last, then one by one, then the rest under a mask. It uses up n and the
// pointers.
func each(ptr []reg.GPVirtual, n reg.GPVirtual, groups int, body func(l lanes)) {
	// turn does k registers of some elements while n lasts.
	turn := func(k, elements int) {
		loop, out := label("loop"), label("out")
		SUBQ(Imm(uint64(elements*k)), n)
		JL(LabelRef(out))
		Label(loop)
		for o := range k {
			body(lanes{ptr: ptr, off: o})
		}
		for _, p := range ptr {
			ADDQ(Imm(uint64(4*elements*k)), p)
		}
		SUBQ(Imm(uint64(elements*k)), n)
		JGE(LabelRef(loop))
		Label(out)
		ADDQ(Imm(uint64(elements*k)), n)
	}
	narrow, rest := label("narrow"), label("rest")
	CMPB(NewDataAddr(Symbol{Name: "·avx512"}, 0), Imm(0))
	JEQ(LabelRef(narrow))
	wide = true
	for _, v := range everyone {
		VBROADCASTSS(v.AsX(), v.AsZ())
	}
	for _, p := range pairs {
		VINSERTF64X4(Imm(1), p[1], p[0].AsZ(), p[0].AsZ())
	}
	turn(max(1, groups/2), 16)
	for _, p := range pairs {
		VEXTRACTF64X4(Imm(1), p[0].AsZ(), p[1])
	}
	wide = false
	JMP(LabelRef(rest))
	Label(narrow)
	if groups > 1 {
		turn(groups, 8)
	}
	Label(rest)
	turn(1, 8)
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
	n, y, i, j := vector(), vector(), vector(), vector()
	// The second source is what MIN and MAX return for a NaN.
	VMOVUPS(num(89), y)
	VMINPS(x, y, x)
	VMOVUPS(num(-104), y)
	VMAXPS(x, y, x)
	VMULPS(num(1.44269504088896341), x, n)
	if wide {
		VRNDSCALEPS(Imm(8), n, n)
	} else {
		VROUNDPS(Imm(8), n, n)
	}
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
