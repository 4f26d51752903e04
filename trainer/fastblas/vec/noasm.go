//go:build !amd64 || purego

package vec

// avx2 is false: the compiler then drops every call of the kernels below.
const avx2 = false

const noKernels = "vec: no assembly on this machine"

func expKernel(dst *float32, x *float32, n int)              { panic(noKernels) }
func addKernel(dst *float32, x *float32, n int)              { panic(noKernels) }
func mulKernel(dst *float32, x *float32, y *float32, n int)  { panic(noKernels) }
func scaleKernel(dst *float32, x *float32, a float32, n int) { panic(noKernels) }
func axpyKernel(dst *float32, x *float32, a float32, n int)  { panic(noKernels) }
func ropeKernel(x *float32, y *float32, cos *float32, sin *float32, sign float32, n int) {
	panic(noKernels)
}
func sumKernel(x *float32, n int) float32                          { panic(noKernels) }
func dotKernel(x *float32, y *float32, n int) float32              { panic(noKernels) }
func devKernel(x *float32, mean float32, n int) float32            { panic(noKernels) }
func squaresKernel(x *float32, n int) float64                      { panic(noKernels) }
func maxKernel(x *float32, n int) float32                          { panic(noKernels) }
func geluKernel(dst *float32, x *float32, n int)                   { panic(noKernels) }
func geluBackKernel(dst *float32, dy *float32, x *float32, n int)  { panic(noKernels) }
func siluKernel(dst *float32, x *float32, n int)                   { panic(noKernels) }
func siluBackKernel(dst *float32, dy *float32, x *float32, n int)  { panic(noKernels) }
func swigluKernel(dst *float32, gate *float32, up *float32, n int) { panic(noKernels) }
func swigluBackKernel(dgate *float32, dup *float32, dy *float32, gate *float32, up *float32, n int) {
	panic(noKernels)
}
func expSumKernel(dst *float32, x *float32, scale float32, shift float32, n int) float32 {
	panic(noKernels)
}
func softmaxBackKernel(dst *float32, p *float32, dp *float32, dot float32, scale float32, n int) {
	panic(noKernels)
}
func expWeightKernel(x *float32, scale float32, shift float32, n int) (sum float32, weighted float32) {
	panic(noKernels)
}
func logProbBackKernel(dz *float32, z *float32, scale float32, shift float32, a float32, b float32, n int) {
	panic(noKernels)
}
func normKernel(y *float32, x *float32, gain *float32, bias *float32, mean float32, rstd float32, n int) {
	panic(noKernels)
}
func rmsKernel(y *float32, x *float32, gain *float32, rstd float32, n int) { panic(noKernels) }
func normBackSumsKernel(dgain *float32, dbias *float32, dy *float32, x *float32, gain *float32, mean float32, rstd float32, n int) (sum float32, weighted float32) {
	panic(noKernels)
}
func rmsBackSumsKernel(dgain *float32, dy *float32, x *float32, gain *float32, rstd float32, n int) float32 {
	panic(noKernels)
}
func normBackKernel(dx *float32, dy *float32, x *float32, gain *float32, mean float32, rstd float32, c1 float32, c2 float32, n int) {
	panic(noKernels)
}
func adamwKernel(p *float32, grad *float32, m *float32, v *float32, gscale float32, beta1 float32, rest1 float32, beta2 float32, rest2 float32, step float32, rsqrt2 float32, eps float32, keep float32, n int) {
	panic(noKernels)
}
