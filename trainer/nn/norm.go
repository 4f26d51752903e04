package nn

import "github.com/proctor-rl/proctor/trainer/fastblas/vec"

// normed is what a norm keeps of its rows for the backward pass.
type normed[F Float] struct{ mean, rstd []F } // mean is empty for RMS

func (s *normed[F]) fit(c Config, n int) {
	fit(&s.rstd, n)
	if c.Norm == "layer" {
		fit(&s.mean, n)
	}
}

// first is the first n rows of s.
func (s normed[F]) first(n int) normed[F] {
	if len(s.mean) > 0 {
		s.mean = s.mean[:n]
	}
	s.rstd = s.rstd[:n]
	return s
}

// norm sets out (N,D) to the normalised rows of x.
func (m *Model[F]) norm(out []F, s normed[F], x []F, gain, bias span) {
	g, eps := in(m.params, gain), F(m.cfg.NormEps)
	if len(s.mean) == 0 {
		rmsForward(out, s.rstd, x, g, eps, m.cfg.Dim)
		return
	}
	layerForward(out, s.mean, s.rstd, x, g, in(m.params, bias), eps, m.cfg.Dim)
}

// normBackward adds to dx and to the gradients of gain and bias.
func (m *Model[F]) normBackward(dx, dout, x []F, s normed[F], gain, bias span, grads []F) {
	g, dg := in(m.params, gain), in(grads, gain)
	if len(s.mean) == 0 {
		rmsBackward(dx, dg, dout, x, s.rstd, g, m.cfg.Dim)
		return
	}
	layerBackward(dx, dg, in(grads, bias), dout, x, s.mean, s.rstd, g, m.cfg.Dim)
}

// layerForward sets out (N,D) to in (N,D) less its mean, over its standard
// deviation, times gain, plus bias, and keeps the means and the reciprocal
// deviations.
func layerForward[F Float](out, mean, rstd, in, gain, bias []F, eps F, D int) {
	n := len(rstd) * D
	if is32[F]() {
		vec.LayerNorm(as32(out[:n]), as32(mean), as32(rstd), as32(in[:n]), as32(gain), as32(bias), float32(eps))
		return
	}
	for i := range rstd {
		x, y := in[i*D:i*D+D], out[i*D:i*D+D]
		var sum, square F
		for _, v := range x {
			sum += v
		}
		mu := sum / F(D)
		for _, v := range x {
			square += (v - mu) * (v - mu)
		}
		r := 1 / sqrt(square/F(D)+eps)
		mean[i], rstd[i] = mu, r
		for j, v := range x {
			y[j] = (v-mu)*r*gain[j] + bias[j]
		}
	}
}

// layerBackward adds to din (N,D), dgain and dbias the gradients of
// layerForward: with h = (x-mean) r and g = dy gain,
// dx = r (g - mean(g) - h mean(g h)).
func layerBackward[F Float](din, dgain, dbias, dout, in, mean, rstd, gain []F, D int) {
	n := len(rstd) * D
	if is32[F]() {
		vec.LayerNormBackward(as32(din[:n]), as32(dgain), as32(dbias), as32(dout[:n]), as32(in[:n]), as32(gain), as32(mean), as32(rstd))
		return
	}
	for i, r := range rstd {
		x, dy, dx := in[i*D:i*D+D], dout[i*D:i*D+D], din[i*D:i*D+D]
		var sum, weighted F
		for j, v := range x {
			h := (v - mean[i]) * r
			sum += dy[j] * gain[j]
			weighted += dy[j] * gain[j] * h
			dgain[j] += dy[j] * h
			dbias[j] += dy[j]
		}
		sum /= F(D)
		weighted /= F(D)
		for j, v := range x {
			dx[j] += r * (dy[j]*gain[j] - sum - (v-mean[i])*r*weighted)
		}
	}
}
