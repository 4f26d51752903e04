package vec

import "math"

// expSum sets dst[i] = exp(scale*x[i]-shift) and returns the sum.
func expSum(dst, x []float32, scale, shift float32) float32 {
	if fast {
		return expSumKernel(first(dst), first(x), scale, shift, len(x))
	}
	var s float64
	for i, v := range x {
		e := math.Exp(float64(scale)*float64(v) - float64(shift))
		dst[i] = float32(e)
		s += e
	}
	return float32(s)
}

// Softmax sets dst to the softmax of scale*x, with scale > 0. dst may be x.
func Softmax(dst, x []float32, scale float32) {
	same(len(dst), len(x))
	if len(x) == 0 {
		return
	}
	s := expSum(dst, x, scale, scale*Max(x))
	Scale(dst, 1/s, dst)
}

// SoftmaxBackward sets dst to the gradient by x of Softmax(p, x, scale), given
// dp, the gradient by p. dst may be dp.
func SoftmaxBackward(dst, p, dp []float32, scale float32) {
	SoftmaxBackwardFrom(dst, p, dp, Dot(p, dp), scale)
}

// SoftmaxBackwardFrom is SoftmaxBackward for a caller that knows d, the inner
// product of p and dp. Attention does: it is that of its output and of the
// gradient by it, which are shorter.
func SoftmaxBackwardFrom(dst, p, dp []float32, d, scale float32) {
	same(len(dst), len(p), len(dp))
	if fast {
		softmaxBackKernel(first(dst), first(p), first(dp), d, scale, len(p))
		return
	}
	for i, v := range p {
		dst[i] = float32(scale*v) * (dp[i] - d)
	}
}

// SoftmaxCausal replaces a block of attention scores by their softmax, row by
// row: row i, at x[i*ld:], counts its first seen+i+1 of cols columns and gets
// zeros in the rest. A row has the bits that Softmax gives it alone.
func SoftmaxCausal(x []float32, ld, rows, cols, seen int, scale float32) {
	for i := range rows {
		r := x[i*ld : i*ld+cols]
		n := min(cols, seen+i+1)
		Softmax(r[:n], r[:n], scale)
		clear(r[n:])
	}
}

// SoftmaxCausalBackward replaces dp, the gradient by the probabilities p of a
// block, by the gradient by the scores. Both have the layout of SoftmaxCausal.
func SoftmaxCausalBackward(dp, p []float32, ld, rows, cols, seen int, scale float32) {
	for i := range rows {
		d, q := dp[i*ld:i*ld+cols], p[i*ld:i*ld+cols]
		n := min(cols, seen+i+1)
		SoftmaxBackward(d[:n], q[:n], d[:n], scale)
		clear(d[n:])
	}
}
