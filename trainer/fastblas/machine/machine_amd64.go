//go:build !purego

package machine

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/cpu"
)

// measurable reports whether this machine runs the kernels.
func measurable() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }

// Peak returns the most float32 operations a second that this many cores do
// together with AVX2 multiply-adds, the best of tries windows of about a
// millisecond, or 0 where there is no AVX2.
func Peak(threads, tries int) float64 {
	if !measurable() {
		return 0
	}
	const turns = 250_000
	sinks := make([]float32, threads*sinkGap)
	t := shortest(threads, tries, func(i int) { sinks[i*sinkGap] = fmaKernel(turns) })
	return float64(threads) * turns * 12 * 8 * 2 / t.Seconds()
}

// Bandwidth returns the most bytes a second that this many cores read
// together, each of its own working set of the given size in bytes, or 0 where
// there is no AVX2.
func Bandwidth(threads, size, tries int) float64 {
	if !measurable() {
		return 0
	}
	lines := size / 128 * 2
	sets := make([][]float32, threads)
	for i := range sets {
		sets[i] = make([]float32, lines*16)
		for j := range sets[i] {
			sets[i][j] = 1
		}
	}
	passes := max(1, 1<<22/size)
	sinks := make([]float32, threads*sinkGap)
	t := shortest(threads, tries, func(i int) {
		for range passes {
			sinks[i*sinkGap] = readKernel(&sets[i][0], lines)
		}
	})
	return float64(threads) * float64(passes) * float64(lines) * 64 / t.Seconds()
}

// sinkGap keeps the results of two threads on different cache lines.
const sinkGap = 32

// shortest runs f(0) to f(threads-1) at once, tries times, and returns the
// shortest time from the moment all had started until all had ended.
func shortest(threads, tries int, f func(i int)) time.Duration {
	best := time.Duration(1<<63 - 1)
	for range tries {
		var ready atomic.Int32
		begin, end := make([]time.Time, threads), make([]time.Time, threads)
		var wg sync.WaitGroup
		for i := range threads {
			wg.Go(func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				ready.Add(1)
				for int(ready.Load()) < threads {
					runtime.Gosched()
				}
				begin[i] = time.Now()
				f(i)
				end[i] = time.Now()
			})
		}
		wg.Wait()
		first, last := begin[0], end[0]
		for i := range threads {
			if begin[i].Before(first) {
				first = begin[i]
			}
			if end[i].After(last) {
				last = end[i]
			}
		}
		best = min(best, last.Sub(first))
	}
	return best
}
