package nn

import "github.com/proctor-rl/proctor/trainer/fastblas/vec"

// rmsForward sets out (N,D) to in (N,D) over its root mean square, times gain
// (D), and keeps the reciprocal roots in rstd (N).
func rmsForward[F Float](out, rstd, in, gain []F, eps F, D int) {
	if is32[F]() {
		vec.RMSNorm(as32(out[:len(rstd)*D]), as32(rstd), as32(in[:len(rstd)*D]), as32(gain), float32(eps))
		return
	}
	for i := range rstd {
		x, y := in[i*D:i*D+D], out[i*D:i*D+D]
		r := 1 / sqrt(dot(x, x)/F(D)+eps)
		rstd[i] = r
		for j, v := range x {
			y[j] = v * r * gain[j]
		}
	}
}

// rmsBackward adds to din (N,D) and dgain (D) the gradients of rmsForward:
// with y = x r g, dx = r (dy g - x r^2 mean(dy g x)).
func rmsBackward[F Float](din, dgain, dout, in, rstd, gain []F, D int) {
	if is32[F]() {
		n := len(rstd) * D
		vec.RMSNormBackward(as32(din[:n]), as32(dgain), as32(dout[:n]), as32(in[:n]), as32(gain), as32(rstd))
		return
	}
	for i, r := range rstd {
		x, dy, dx := in[i*D:i*D+D], dout[i*D:i*D+D], din[i*D:i*D+D]
		var s F
		for j, v := range x {
			xr := v * r
			s += dy[j] * gain[j] * v
			dgain[j] += dy[j] * xr
		}
		s *= r * r / F(D)
		for j, v := range x {
			dx[j] += r * (dy[j]*gain[j] - v*s)
		}
	}
}
