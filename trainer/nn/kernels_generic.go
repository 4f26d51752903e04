//go:build (!amd64 && !arm64) || purego

package nn

// fast is false: the compiler then drops every call of the kernels below.
const fast = false

const noKernels = "nn: no assembly on this machine"

func scoresKernel(s, q, kp *float32, n, e int) { panic(noKernels) }

func mixRowsKernel(out, p, v0, v *float32, ld, n0, n, e int) { panic(noKernels) }

func mixPairKernel(out, p *float32, ps int, v0a, v0b, va, vb *float32, n0, n int) { panic(noKernels) }

func mulAddKernel(dst, x, y *float32, n int) { panic(noKernels) }
