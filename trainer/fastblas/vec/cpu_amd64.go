//go:build !purego

package vec

import "golang.org/x/sys/cpu"

// avx2 is set once, before anything runs; only tests change it.
var avx2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA
