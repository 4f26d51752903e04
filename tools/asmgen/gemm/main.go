// Command gemm writes the AVX2 matrix kernels of trainer/fastblas.
//
// Every kernel computes a tile of c = cin + alpha*(a*b) where the product of
// one tile element is a single chain of fused multiply-adds in the order of
// the inner index. Kernels of different tile sizes therefore agree bit for bit.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

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
