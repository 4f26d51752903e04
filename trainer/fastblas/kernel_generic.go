//go:build (!amd64 && !arm64) || purego

package fastblas

// Kernels names the instruction set that the package found and uses.
func Kernels() string { return "go" }

func (t *tileRun) run() { t.runGo() }

// panelsAtOnce is how many panels the kernel takes.
func panelsAtOnce(_, _, _ int) int { return 1 }

func transposeRows(rows, kc int, src *float32, ld int, dst *float32, ds int) {
	transposeGo(rows, 0, kc, src, ld, dst, ds)
}

func copyRows16(rows int, src *float32, ld int, dst *float32, n int) {
	copyGo(rows, src, ld, dst, n, nr)
}

func copyRows6(rows int, src *float32, ld int, dst *float32) {
	copyGo(rows, src, ld, dst, mr, mr)
}

func copyRows48(rows int, src *float32, ld int, dst *float32, pitch int) {
	copyBlocksGo(rows, src, ld, dst, pitch)
}
