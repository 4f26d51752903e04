// Package openblas calls the C library OpenBLAS, the opponent in the benchmark
// of fastblas. It does anything only under the build tag cblas, which needs
// cgo and libopenblas; nothing but the benchmark uses it.
package openblas
