//go:build (amd64 || arm64) && !purego

package fastblas

// kernelNames are the kernels that this machine can run, the widest first.
func kernelNames() []string {
	var names []string
	for k := choose(); k > goKernels; k-- {
		names = append(names, kernelsNamed[k])
	}
	return append(names, "go")
}

func useKernels(name string) (restore func()) {
	old := chosen
	for k, n := range kernelsNamed {
		if n == name {
			chosen = kernels(k)
		}
	}
	return func() { chosen = old }
}
