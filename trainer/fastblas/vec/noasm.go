//go:build (!amd64 && !arm64) || purego

package vec

// fast is false: the compiler then drops every call of the kernels below.
const fast = false

const noKernels = "vec: no assembly on this machine"

func expKernel(dst, x *float32, n int)              { panic(noKernels) }
func addKernel(dst, x *float32, n int)              { panic(noKernels) }
func mulKernel(dst, x, y *float32, n int)           { panic(noKernels) }
func scaleKernel(dst, x *float32, a float32, n int) { panic(noKernels) }
func axpyKernel(dst, x *float32, a float32, n int)  { panic(noKernels) }
func ropeKernel(x, y, cos, sin *float32, sign float32, n int) {
	panic(noKernels)
}
func sumKernel(x *float32, n int) float32               { panic(noKernels) }
func dotKernel(x, y *float32, n int) float32            { panic(noKernels) }
func devKernel(x *float32, mean float32, n int) float32 { panic(noKernels) }
func squaresKernel(x *float32, n int) float64           { panic(noKernels) }
func maxKernel(x *float32, n int) float32               { panic(noKernels) }
func geluKernel(dst, x *float32, n int)                 { panic(noKernels) }
func geluBackKernel(dst, dy, x *float32, n int)         { panic(noKernels) }
func siluKernel(dst, x *float32, n int)                 { panic(noKernels) }
func siluBackKernel(dst, dy, x *float32, n int)         { panic(noKernels) }
func swigluKernel(dst, gate, up *float32, n int)        { panic(noKernels) }
func swigluBackKernel(dgate, dup, dy, gate, up *float32, n int) {
	panic(noKernels)
}

func expSumKernel(dst, x *float32, scale, shift float32, n int) float32 {
	panic(noKernels)
}

func softmaxBackKernel(dst, p, dp *float32, dot, scale float32, n int) {
	panic(noKernels)
}

func expWeightKernel(x *float32, scale, shift float32, n int) (sum, weighted float32) {
	panic(noKernels)
}

func logProbBackKernel(dz, z *float32, scale, shift, a, b float32, n int) {
	panic(noKernels)
}

func normKernel(y, x, gain, bias *float32, mean, rstd float32, n int) {
	panic(noKernels)
}
func rmsKernel(y, x, gain *float32, rstd float32, n int) { panic(noKernels) }
func normBackSumsKernel(dgain, dbias, dy, x, gain *float32, mean, rstd float32, n int) (sum, weighted float32) {
	panic(noKernels)
}

func rmsBackSumsKernel(dgain, dy, x, gain *float32, rstd float32, n int) float32 {
	panic(noKernels)
}

func normBackKernel(dx, dy, x, gain *float32, mean, rstd, c1, c2 float32, n int) {
	panic(noKernels)
}

func adamwKernel(p, grad, m, v *float32, gscale, beta1, rest1, beta2, rest2, step, rsqrt2, eps, keep float32, n int) {
	panic(noKernels)
}
