//go:build !amd64 || purego

package fastblas

func kernelNames() []string { return []string{"go"} }

func useKernels(string) (restore func()) { return func() {} }
