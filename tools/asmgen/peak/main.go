// Command peak writes the kernels that measure what the machine can do at
// best: multiply-adds out of registers, and reading memory.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	fma()
	read()
	Generate()
}

// registers declares n vectors of zeros.
func registers(n int) []reg.VecVirtual {
	r := make([]reg.VecVirtual, n)
	for i := range r {
		r[i] = YMM()
		VXORPS(r[i], r[i], r[i])
	}
	return r
}

// fma keeps 12 independent chains going, enough for two units of latency 4 to 6.
func fma() {
	TEXT("fmaKernel", NOSPLIT, "func(turns int) float32")
	Doc("fmaKernel does turns times 12 multiply-adds of 8 float32 each.")
	n := Load(Param("turns"), GP64())
	acc, in := registers(12), registers(2)
	Label("loop")
	for i := range acc {
		VFMADD231PS(in[0], in[1], acc[i])
	}
	DECQ(n)
	JNZ(LabelRef("loop"))
	for i := 1; i < 12; i++ {
		VADDPS(acc[i], acc[0], acc[0])
	}
	Store(acc[0].AsX(), ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// read loads whole cache lines and keeps the loads alive.
func read() {
	TEXT("readKernel", NOSPLIT, "func(x *float32, lines int) float32")
	Doc("readKernel reads pairs of cache lines of 64 bytes; lines is even.")
	Pragma("noescape")
	p, n := Load(Param("x"), GP64()), Load(Param("lines"), GP64())
	acc := registers(4)
	Label("loop")
	for i := range acc {
		VORPS(Mem{Base: p, Disp: 32 * i}, acc[i], acc[i])
	}
	ADDQ(Imm(128), p)
	SUBQ(Imm(2), n)
	JNZ(LabelRef("loop"))
	for i := 1; i < 4; i++ {
		VORPS(acc[i], acc[0], acc[0])
	}
	Store(acc[0].AsX(), ReturnIndex(0))
	VZEROUPPER()
	RET()
}
