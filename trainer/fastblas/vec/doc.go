// Package vec holds the elementwise and row kernels of a transformer in
// float32: exponential, softmax, policy log-probability, norms, activations,
// rotary positions and AdamW, each with its backward pass.
//
// The destination comes first and nothing allocates. Where slices must have
// one length, a wrong one panics. An elementwise result depends on its own
// elements only; a reduction adds in an order that the length alone decides.
// So no result depends on where a slice lies in memory or on what else is
// computed with it.
//
// On amd64 with AVX2 and FMA, or with AVX-512, and on arm64 the kernels are
// assembly, with the same bits; elsewhere, and under the build tag purego, they
// are plain loops over package math, which keep the same promises but give other
// last bits.
//
// The package knows nothing of layers; trainer/nn calls it, and fastblas for
// the activations of its epilogues.
package vec

//go:generate go -C ../../../tools/asmgen run ./vec -pkg vec -out ../../trainer/fastblas/vec/vec_amd64.s -stubs ../../trainer/fastblas/vec/vec_amd64.go
//go:generate go -C ../../../tools/asmgen run ./vec-arm64 -pkg vec -out ../../trainer/fastblas/vec/vec_arm64.s -stubs ../../trainer/fastblas/vec/vec_arm64.go

const badLength = "vec: slices of different lengths"

// same panics unless all lengths are n.
func same(n int, lens ...int) {
	for _, l := range lens {
		if l != n {
			panic(badLength)
		}
	}
}

// Assembly reports whether the kernels run as assembly here.
func Assembly() bool { return fast }
