//go:build !purego

package fastblas

const neonKernels = goKernels + 1

var kernelsNamed = [...]string{goKernels: "go", neonKernels: "neon"}

// choose has no choice: every arm64 that Go runs on has NEON.
func choose() kernels { return neonKernels }

// run computes the tiles.
func (t *tileRun) run() {
	if chosen == goKernels {
		t.runGo()
		return
	}
	t.runTiles()
}

// panelsAtOnce is how many of the panels that there are a kernel of few rows
// takes: with one panel it would have too few chains to hide the latency of
// the multiply-add. whole is how many of them are full.
func panelsAtOnce(rows, _, whole int) int {
	if p := widePanels(rows); chosen != goKernels && whole >= p {
		return p
	}
	return 1
}
