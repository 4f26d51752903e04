// Command gemm-arm64 writes the NEON matrix kernels of trainer/fastblas: the
// same functions with the same results as command gemm writes for AVX2.
//
// The product of one tile element is a single chain of fused multiply-adds in
// the order of the inner index.
package main

import (
	"fmt"
	"os"

	"github.com/proctor-rl/proctor/tools/asmgen/neon"
)

func main() {
	f := neon.Start()
	for mr := 1; mr <= 6; mr++ {
		tile(f, mr, 1, false)
		tile(f, mr, 1, true)
	}
	tile(f, 1, 4, false)
	tile(f, 2, 2, false)
	tile(f, 3, 2, false)
	transpose(f, 8)
	transpose(f, 6)
	copyRows(f)
	if err := f.Finish(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// pieces copies what is left of a row of n < 16 columns: 8 where there are as
// many, then 4, 2 and 1. body handles the floats that two registers, one, half
// of one and one lane have room for.
func pieces(f *neon.File, n int, body func(columns int)) {
	for bit := 3; bit >= 0; bit-- {
		skip := f.NewLabel("skip")
		f.I("TBZ $%d, R%d, %s", bit, n, skip)
		body(1 << bit)
		f.Label(skip)
	}
}

// move is the instruction that moves 4, 2 or 1 floats between a register and
// memory.
func move(columns int) string {
	return map[int]string{4: "FMOVQ", 2: "FMOVD", 1: "FMOVS"}[columns]
}
