package vec

import "math"

// sigmoid is the logistic function.
func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

const (
	geluIn    = 2 * 0.7978845608028654 // 2*sqrt(2/pi)
	geluCubic = 0.044715
)

// geluGate returns what GELU multiplies x by, and the slope of its argument.
func geluGate(x float64) (gate, slope float64) {
	return sigmoid(geluIn * (x + geluCubic*x*x*x)), geluIn * (1 + 3*geluCubic*x*x)
}

// GELU sets dst[i] to the tanh form of GELU,
// x/2*(1+tanh(sqrt(2/pi)*(x+0.044715*x^3))), at x[i]. dst may be x.
func GELU(dst, x []float32) {
	same(len(dst), len(x))
	if fast {
		geluKernel(first(dst), first(x), len(x))
		return
	}
	for i, v := range x {
		g, _ := geluGate(float64(v))
		dst[i] = float32(float64(v) * g)
	}
}

// GELUBackward sets dst[i] to dy[i] times the slope of GELU at x[i], the input
// of the forward pass. dst may be dy or x.
func GELUBackward(dst, dy, x []float32) {
	same(len(dst), len(dy), len(x))
	if fast {
		geluBackKernel(first(dst), first(dy), first(x), len(x))
		return
	}
	for i, v := range x {
		z := float64(v)
		if z > 30 || z < -30 { // the slope is 1 or 0 from here on
			z = math.Copysign(30, z)
		}
		g, s := geluGate(z)
		dst[i] = float32(float64(dy[i]) * (g + z*g*(1-g)*s))
	}
}

// SiLU sets dst[i] = x/(1+exp(-x)) at x[i]. dst may be x.
func SiLU(dst, x []float32) {
	same(len(dst), len(x))
	if fast {
		siluKernel(first(dst), first(x), len(x))
		return
	}
	for i, v := range x {
		dst[i] = float32(float64(v) * sigmoid(float64(v)))
	}
}

// SiLUBackward sets dst[i] to dy[i] times the slope of SiLU at x[i], the input
// of the forward pass. dst may be dy or x.
func SiLUBackward(dst, dy, x []float32) {
	same(len(dst), len(dy), len(x))
	if fast {
		siluBackKernel(first(dst), first(dy), first(x), len(x))
		return
	}
	for i, v := range x {
		dst[i] = float32(float64(dy[i]) * siluSlope(float64(v)))
	}
}

func siluSlope(x float64) float64 {
	if x > 200 || x < -200 { // the slope is 1 or 0 from here on
		x = math.Copysign(200, x)
	}
	s := sigmoid(x)
	return s + x*s*(1-s)
}

// SwiGLU sets dst[i] = SiLU(gate[i])*up[i]. dst may be gate or up.
func SwiGLU(dst, gate, up []float32) {
	same(len(dst), len(gate), len(up))
	if fast {
		swigluKernel(first(dst), first(gate), first(up), len(up))
		return
	}
	for i, v := range gate {
		dst[i] = float32(float64(v) * sigmoid(float64(v)) * float64(up[i]))
	}
}

// SwiGLUBackward sets dgate and dup from dy and the inputs of the forward
// pass. dgate may be gate, and dup may be up or dy.
func SwiGLUBackward(dgate, dup, dy, gate, up []float32) {
	same(len(dgate), len(dup), len(dy), len(gate), len(up))
	if fast {
		swigluBackKernel(first(dgate), first(dup), first(dy), first(gate), first(up), len(up))
		return
	}
	for i, v := range gate {
		x, d, u := float64(v), float64(dy[i]), float64(up[i])
		dgate[i] = float32(d * u * siluSlope(x))
		dup[i] = float32(d * x * sigmoid(x))
	}
}
