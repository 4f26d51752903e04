// Command attention writes the AVX2 kernels of trainer/nn: of attention one
// query at a time, and a product that is added.
//
// Every element is one chain of fused multiply-adds in ascending order of what
// it sums over, as everywhere. A score has few steps and a mixture few
// elements, so the kernels take several of them side by side.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	scores()
	mixRows()
	mixPair()
	mulAdd()
	Generate()
}

func begin(name, sig, doc string) {
	TEXT(name, NOSPLIT, "func("+sig+")")
	Doc(name + " " + doc)
	Pragma("noescape")
}

func gp(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

func end() {
	VZEROUPPER()
	RET()
}

// zeros declares n accumulators.
func zeros(n int) []reg.VecVirtual {
	r := make([]reg.VecVirtual, n)
	for i := range r {
		r[i] = YMM()
		VXORPS(r[i], r[i], r[i])
	}
	return r
}

// loop begins one at the start of a line of the decoder: these are so short that
// crossing one shows.
func loop(name string) {
	Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{Imm(64)}})
	Label(name)
}

// multiply adds x times the vectors from m on to the accumulators.
func multiply(m Mem, x reg.VecVirtual, acc []reg.VecVirtual) {
	for _, a := range acc {
		VFMADD231PS(m, x, a)
		m = m.Offset(32)
	}
}

func store(acc []reg.VecVirtual, to reg.GPVirtual) {
	for i, a := range acc {
		VMOVUPS(a, Mem{Base: to, Disp: 32 * i})
	}
}

// scores takes as many panels side by side as hide the latency of the chains:
// of 7 panels 4 and 3, of 8 panels 4 and 4.
func scores() {
	begin("scoresKernel", "s, q, kp *float32, n, e int",
		"sets s[j] to the sum over i < e of q[i]*kp[j/16*16*e+i*16+j%16], a chain in ascending i, for j < n rounded up to 16.")
	s, q, kp, n, e, pitch := gp("s"), gp("q"), gp("kp"), gp("n"), gp("e"), GP64()
	ADDQ(Imm(15), n)
	SHRQ(Imm(4), n)
	MOVQ(e, pitch)
	SHLQ(Imm(6), pitch)

	Label("next")
	for _, c := range []struct{ least, most, take int }{{9, 0, 6}, {6, 6, 6}, {5, 5, 5}, {4, 0, 4}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}} {
		CMPQ(n, Imm(uint64(c.least)))
		to := LabelRef(fmt.Sprintf("panels%d", c.take))
		if c.most == 0 {
			JGE(to)
		} else {
			JEQ(to)
		}
	}
	JMP(LabelRef("done"))
	for take := 6; take > 0; take-- {
		Label(fmt.Sprintf("panels%d", take))
		acc := zeros(2 * take)
		// Two panels a pointer: the second is one pitch further.
		k := make([]reg.GPVirtual, (take+1)/2)
		for i := range k {
			k[i] = GP64()
			if i == 0 {
				MOVQ(kp, k[i])
			} else {
				LEAQ(Mem{Base: kp, Index: pitch, Scale: uint8(2 * i)}, k[i])
			}
		}
		at, left := GP64(), GP64()
		MOVQ(q, at)
		MOVQ(e, left)
		steps := fmt.Sprintf("steps%d", take)
		loop(steps)
		x := YMM()
		VBROADCASTSS(Mem{Base: at}, x)
		for i := range take {
			m := Mem{Base: k[i/2]}
			if i%2 == 1 {
				m.Index, m.Scale = pitch, 1
			}
			multiply(m, x, acc[2*i:2*i+2])
		}
		ADDQ(Imm(4), at)
		for _, p := range k {
			ADDQ(Imm(64), p)
		}
		DECQ(left)
		JNZ(LabelRef(steps))
		store(acc, s)
		if take != 6 && take != 4 {
			JMP(LabelRef("done"))
			continue
		}
		ADDQ(U32(64*take), s)
		if take == 6 {
			LEAQ(Mem{Base: kp, Index: pitch, Scale: 2}, kp)
		}
		LEAQ(Mem{Base: kp, Index: pitch, Scale: 4}, kp)
		SUBQ(Imm(uint64(take)), n)
		JMP(LabelRef("next"))
	}
	Label("done")
	end()
}

// twoRuns writes the loop over n0 rows, if there are any, and then over n more:
// own moves the pointers to those.
func twoRuns(label string, n0, n reg.GPVirtual, row, own func()) {
	left, second := GP64(), GP64()
	MOVQ(n0, left)
	XORQ(second, second)
	TESTQ(left, left)
	JEQ(LabelRef(label + "own"))
	loop(label)
	row()
	DECQ(left)
	JNZ(LabelRef(label))
	TESTQ(second, second)
	JNE(LabelRef(label + "end"))
	Label(label + "own")
	own()
	MOVQ(n, left)
	MOVQ(U32(1), second)
	JMP(LabelRef(label))
	Label(label + "end")
}

func mixRows() {
	begin("mixRowsKernel", "out, p, v0, v *float32, ld, n0, n, e int",
		"sets out[i] to the sum over j < n0+n of p[j]*row[j][i], a chain in ascending j, for i < e, a multiple of 8. The first n0 rows lie at v0, the others, one at least, at v. Rows of zero weight at the end change nothing.")
	out, p, v0, v, ld := gp("out"), gp("p"), gp("v0"), gp("v"), gp("ld")
	n0, n, e := gp("n0"), gp("n"), gp("e")
	SHLQ(Imm(2), ld)
	for _, columns := range []int{64, 32, 16, 8} {
		block := fmt.Sprintf("columns%d", columns)
		Label(block)
		CMPQ(e, Imm(uint64(columns)))
		JLT(LabelRef(block + "done"))
		acc := zeros(columns / 8)
		weight, row := GP64(), GP64()
		MOVQ(p, weight)
		MOVQ(v0, row)
		twoRuns(block+"rows", n0, n, func() {
			x := YMM()
			VBROADCASTSS(Mem{Base: weight}, x)
			multiply(Mem{Base: row}, x, acc)
			ADDQ(Imm(4), weight)
			ADDQ(ld, row)
		}, func() { MOVQ(v, row) })
		store(acc, out)
		for _, r := range []reg.GPVirtual{out, v0, v} {
			ADDQ(U32(4*columns), r)
		}
		SUBQ(Imm(uint64(columns)), e)
		JMP(LabelRef(block))
		Label(block + "done")
	}
	end()
}

func mixPair() {
	begin("mixPairKernel", "out, p *float32, ps int, v0a, v0b, va, vb *float32, n0, n int",
		"is mixRowsKernel for two heads of 32 elements at once, since one has too few chains to hide their latency: dense rows at v0a and va with the weights p for the first 32 of out, rows at v0b and vb with those ps further for the next.")
	out, p, ps, a, b, n0, n := gp("out"), gp("p"), gp("ps"), gp("v0a"), gp("v0b"), gp("n0"), gp("n")
	acc := zeros(8)
	twoRuns("rows", n0, n, func() {
		x, y := YMM(), YMM()
		VBROADCASTSS(Mem{Base: p}, x)
		VBROADCASTSS(Mem{Base: p, Index: ps, Scale: 4}, y)
		multiply(Mem{Base: a}, x, acc[:4])
		multiply(Mem{Base: b}, y, acc[4:])
		ADDQ(Imm(4), p)
		ADDQ(Imm(128), a)
		ADDQ(Imm(128), b)
	}, func() {
		Load(Param("va"), a)
		Load(Param("vb"), b)
	})
	store(acc, out)
	end()
}

func mulAdd() {
	begin("mulAddKernel", "dst, x, y *float32, n int", "sets dst[i] += x[i]*y[i] for i < n, a multiple of 8.")
	dst, x, y, n := gp("dst"), gp("x"), gp("y"), gp("n")
	Label("loop")
	u, v := YMM(), YMM()
	VMOVUPS(Mem{Base: x}, u)
	VMOVUPS(Mem{Base: dst}, v)
	VFMADD231PS(Mem{Base: y}, u, v)
	VMOVUPS(v, Mem{Base: dst})
	for _, p := range []reg.GPVirtual{x, y, dst} {
		ADDQ(Imm(32), p)
	}
	SUBQ(Imm(8), n)
	JG(LabelRef("loop"))
	end()
}
