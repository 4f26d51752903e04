// Package fastblas multiplies float32 matrices near the speed of the machine
// without cgo.
//
// It has two faces. [Implementation] is a gonum blas.Float32: after
// blas32.Use(fastblas.Implementation{}) a gonum program runs on it unchanged.
// [Gemm], [GemmPacked] and [Packed] are for hot paths that keep their weights
// packed, add a bias or an activation in the same pass and bring their own
// [Workspace].
//
// Every element of a product is one chain of multiply-adds in the order of the
// inner index for each block of 256 of it, the blocks added in order. It
// depends on its own row and column and on nothing else: a row has the same
// bits alone as in a batch of any size, packed or not, wherever it lies in
// memory.
//
// The kernels are single-threaded: whoever calls them decides what runs in
// parallel. On amd64 with AVX2 and FMA, or with AVX-512, and on arm64 they are
// assembly, with the same bits; elsewhere, and under the build tag purego, they
// are Go, which makes the same promises but not the same bits, since Go has no
// float32 fused multiply-add.
//
// The package knows nothing of layers or training; trainer/nn calls it, and
// trainer/fastblas/vec holds the elementwise kernels.
package fastblas

//go:generate go -C ../../tools/asmgen run ./gemm -pkg fastblas -out ../../trainer/fastblas/gemm_amd64.s -stubs ../../trainer/fastblas/gemm_amd64.go
//go:generate go -C ../../tools/asmgen run ./gemm512 -pkg fastblas -out ../../trainer/fastblas/gemm512_amd64.s -stubs ../../trainer/fastblas/gemm512_amd64.go
//go:generate go -C ../../tools/asmgen run ./gemm-arm64 -pkg fastblas -out ../../trainer/fastblas/gemm_arm64.s -stubs ../../trainer/fastblas/gemm_arm64.go
