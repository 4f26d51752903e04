//go:build !linux

package fastblas

// LargePages asks the kernel for large pages, on Linux.
func LargePages[F float32 | float64]([]F) {}
