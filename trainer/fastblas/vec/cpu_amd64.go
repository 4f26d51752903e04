//go:build !purego

package vec

import "golang.org/x/sys/cpu"

// fast, which is AVX2, and avx512 are set once, before anything runs; only tests
// change them. The kernels look at avx512 themselves: their main loops are there
// twice.
var (
	fast   = cpu.X86.HasAVX2 && cpu.X86.HasFMA
	avx512 = fast && cpu.X86.HasAVX512F
)
