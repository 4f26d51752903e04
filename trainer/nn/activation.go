package nn

import "github.com/proctor-rl/proctor/trainer/fastblas/vec"

// The constants of the tanh form of GELU, with 0.5(1+tanh y) written as the
// logistic function of 2y: gelu(x) = x sigmoid(geluA x + geluB x^3).
const (
	geluA = 2 * 0.7978845608028654
	geluB = geluA * 0.044715
)

func sigmoid[F Float](x F) F { return 1 / (1 + exp(-x)) }

// geluForward sets out to gelu(in), element by element.
func geluForward[F Float](out, in []F) {
	if is32[F]() {
		vec.GELU(as32(out), as32(in))
		return
	}
	for i, x := range in {
		out[i] = x * sigmoid(x*(geluA+geluB*x*x))
	}
}

// geluBackward sets din to dout times gelu'(in). din and dout may be one slice.
func geluBackward[F Float](din, dout, in []F) {
	if is32[F]() {
		vec.GELUBackward(as32(din), as32(dout), as32(in))
		return
	}
	for i, x := range in {
		s := sigmoid(x * (geluA + geluB*x*x))
		din[i] = dout[i] * (s + x*s*(1-s)*(geluA+3*geluB*x*x))
	}
}

// swigluForward sets out (N,F) to silu(gate) times up, where the rows of in
// (N,2F) hold gate and up.
func swigluForward[F Float](out, in []F, width int) {
	for i := range len(out) / width {
		gate, up := in[2*i*width:(2*i+1)*width], in[(2*i+1)*width:(2*i+2)*width]
		o := out[i*width : (i+1)*width]
		if is32[F]() {
			vec.SwiGLU(as32(o), as32(gate), as32(up))
			continue
		}
		for j, g := range gate {
			o[j] = g * sigmoid(g) * up[j]
		}
	}
}

// swigluBackward sets din (N,2F) to the gradient of swigluForward.
func swigluBackward[F Float](din, dout, in []F, width int) {
	for i := range len(dout) / width {
		gate, up := in[2*i*width:(2*i+1)*width], in[(2*i+1)*width:(2*i+2)*width]
		dg, du := din[2*i*width:(2*i+1)*width], din[(2*i+1)*width:(2*i+2)*width]
		do := dout[i*width : (i+1)*width]
		if is32[F]() {
			vec.SwiGLUBackward(as32(dg), as32(du), as32(do), as32(gate), as32(up))
			continue
		}
		for j, d := range do {
			s := sigmoid(gate[j])
			du[j] = d * gate[j] * s
			dg[j] = d * up[j] * s * (1 + gate[j]*(1-s))
		}
	}
}
