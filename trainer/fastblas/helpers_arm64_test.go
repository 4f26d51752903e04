//go:build !purego

package fastblas

func kernelNames() []string { return []string{"neon", "go"} }

func useKernels(name string) (restore func()) {
	old := neonKernels
	neonKernels = name == "neon"
	return func() { neonKernels = old }
}
