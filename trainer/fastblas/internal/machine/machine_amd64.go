//go:build !purego

package machine

import (
	"time"

	"golang.org/x/sys/cpu"
)

// measurable reports whether this machine runs the kernels.
func measurable() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }

// Peak returns the most float32 operations a second that one core does with
// AVX2 multiply-adds, the best of tries windows of about a millisecond, or 0
// where there is no AVX2.
func Peak(tries int) float64 {
	if !measurable() {
		return 0
	}
	const turns = 250_000
	best := 0.0
	for range tries {
		start := time.Now()
		sink = fmaKernel(turns)
		best = max(best, turns*12*8*2/time.Since(start).Seconds())
	}
	return best
}

// Bandwidth returns the most bytes a second that one core reads of a working
// set of the given size in bytes, or 0 where there is no AVX2.
func Bandwidth(size, tries int) float64 {
	if !measurable() {
		return 0
	}
	lines := size / 128 * 2
	x := make([]float32, lines*16)
	for i := range x {
		x[i] = 1
	}
	passes := max(1, 1<<22/size)
	best := 0.0
	for range tries {
		start := time.Now()
		for range passes {
			sink = readKernel(&x[0], lines)
		}
		best = max(best, float64(passes)*float64(lines)*64/time.Since(start).Seconds())
	}
	return best
}

var sink float32
