package nn

// rmsForward sets out (N,D) to in (N,D) over its root mean square, times gain
// (D), and keeps the reciprocal roots in rstd (N).
func rmsForward[F Float](out, rstd, in, gain []F, eps F, D int) {
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

// dot is the inner product in four interleaved sums.
func dot[F Float](x, y []F) F {
	y = y[:len(x)]
	var a, b, c, d F
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += x[i] * y[i]
		b += x[i+1] * y[i+1]
		c += x[i+2] * y[i+2]
		d += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		a += x[i] * y[i]
	}
	return (a + b) + (c + d)
}
