//go:build !purego

package vec

import "golang.org/x/sys/cpu"

// avx2 and avx512 are set once, before anything runs; only tests change them.
// The kernels look at avx512 themselves: their main loops are there twice.
var (
	avx2   = cpu.X86.HasAVX2 && cpu.X86.HasFMA
	avx512 = avx2 && cpu.X86.HasAVX512F
)
