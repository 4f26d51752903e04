//go:build amd64 && !purego

package fastblas

func kernelNames() []string {
	if chosen == goKernels {
		return []string{"go"}
	}
	return []string{"avx2", "go"}
}

func useKernels(name string) (restore func()) {
	old := chosen
	if name == "go" {
		chosen = goKernels
	}
	return func() { chosen = old }
}
