//go:build amd64 && !purego

package fastblas

import "golang.org/x/sys/cpu"

const (
	avx2Kernels kernels = goKernels + 1 + iota
	avx512Kernels
)

var kernelsNamed = [...]string{goKernels: "go", avx2Kernels: "avx2", avx512Kernels: "avx512"}

// choose asks the processor, and whether the system keeps its registers.
func choose() kernels {
	switch {
	case !cpu.X86.HasAVX2 || !cpu.X86.HasFMA:
		return goKernels
	case cpu.X86.HasAVX512F && cpu.X86.HasBMI2:
		return avx512Kernels
	}
	return avx2Kernels
}

// run computes the tiles.
func (t *tileRun) run() {
	switch chosen {
	case avx2Kernels:
		t.runTiles()
	case avx512Kernels:
		t.runAVX512()
	default:
		t.runGo()
	}
}

// panelsAtOnce is how many of the panels that there are a kernel of few rows
// takes: with one panel it would have too few chains to hide the latency of
// the multiply-add. whole is how many of them are full.
func panelsAtOnce(rows, panels, whole int) int {
	switch chosen {
	case avx2Kernels:
		if p := widePanels(rows); whole >= p {
			return p
		}
	case avx512Kernels:
		return widePanels512(rows, panels)
	case goKernels:
	}
	return 1
}
