package vec

import "math"

// LayerNorm sets rows of y, n long, to (x-mean)*rstd*gain + bias and keeps mean
// and rstd, one of each a row, for the backward pass. y may be x only where no
// backward pass follows.
func LayerNorm(y, mean, rstd, x, gain, bias []float32, eps float32) {
	n := len(gain)
	same(n, len(bias))
	same(len(x), len(y), n*len(mean), n*len(rstd))
	for i := range mean {
		r, out := x[i*n:(i+1)*n], y[i*n:(i+1)*n]
		m := Sum(r) / float32(n)
		s := inverseRoot(squaredDistance(r, m), n, eps)
		mean[i], rstd[i] = m, s
		if fast {
			normKernel(first(out), first(r), first(gain), first(bias), m, s, n)
			continue
		}
		for j, v := range r {
			out[j] = float32(float32(float32(v-m)*s)*gain[j]) + bias[j]
		}
	}
}

// inverseRoot is 1/sqrt(sum/n + eps).
func inverseRoot(sum float32, n int, eps float32) float32 {
	return float32(1 / math.Sqrt(float64(sum)/float64(n)+float64(eps)))
}

// LayerNormBackward adds to dx, dgain and dbias the gradients of LayerNorm.
func LayerNormBackward(dx, dgain, dbias, dy, x, gain, mean, rstd []float32) {
	n := len(gain)
	same(n, len(dgain), len(dbias))
	same(len(x), len(dx), len(dy), n*len(mean), n*len(rstd))
	for i := range mean {
		lo, hi := i*n, (i+1)*n
		d, r := dy[lo:hi], x[lo:hi]
		sum, weighted := normBackSums(dgain, dbias, d, r, gain, mean[i], rstd[i])
		normBack(dx[lo:hi], d, r, gain, mean[i], rstd[i], sum/float32(n), weighted/float32(n))
	}
}

func normBackSums(dgain, dbias, dy, x, gain []float32, mean, rstd float32) (sum, weighted float32) {
	if fast {
		return normBackSumsKernel(first(dgain), first(dbias), first(dy), first(x), first(gain), mean, rstd, len(x))
	}
	var s, w float64
	for j, d := range dy {
		h := float32(x[j]-mean) * rstd
		dbias[j] += d
		dgain[j] += float32(d * h)
		g := float64(d) * float64(gain[j])
		s += g
		w += g * float64(h)
	}
	return float32(s), float32(w)
}

// normBack adds rstd*(dy*gain - c1 - h*c2) to dx, where h is the normed input.
func normBack(dx, dy, x, gain []float32, mean, rstd, c1, c2 float32) {
	if fast {
		normBackKernel(first(dx), first(dy), first(x), first(gain), mean, rstd, c1, c2, len(x))
		return
	}
	for j, d := range dy {
		h := float32(x[j]-mean) * rstd
		dx[j] += float32(rstd * (float32(d*gain[j]) - c1 - float32(h*c2)))
	}
}

// RMSNorm sets rows of y, n long, to x*rstd*gain and keeps rstd, one a row, for
// the backward pass. y may be x only where no backward pass follows.
func RMSNorm(y, rstd, x, gain []float32, eps float32) {
	n := len(gain)
	same(len(x), len(y), n*len(rstd))
	for i := range rstd {
		r, out := x[i*n:(i+1)*n], y[i*n:(i+1)*n]
		s := inverseRoot(squaredDistance(r, 0), n, eps)
		rstd[i] = s
		if fast {
			rmsKernel(first(out), first(r), first(gain), s, n)
			continue
		}
		for j, v := range r {
			out[j] = float32(v*s) * gain[j]
		}
	}
}

// RMSNormBackward adds to dx and dgain the gradients of RMSNorm.
func RMSNormBackward(dx, dgain, dy, x, gain, rstd []float32) {
	n := len(gain)
	same(n, len(dgain))
	same(len(x), len(dx), len(dy), n*len(rstd))
	for i, s := range rstd {
		lo, hi := i*n, (i+1)*n
		d, r := dy[lo:hi], x[lo:hi]
		var weighted float32
		if fast {
			weighted = rmsBackSumsKernel(first(dgain), first(d), first(r), first(gain), s, n)
		} else {
			var w float64
			for j, v := range d {
				h := r[j] * s
				dgain[j] += float32(v * h)
				w += float64(v) * float64(gain[j]) * float64(h)
			}
			weighted = float32(w)
		}
		normBack(dx[lo:hi], d, r, gain, 0, s, 0, weighted/float32(n))
	}
}
