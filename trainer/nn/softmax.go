package nn

import "github.com/proctor-rl/proctor/trainer/fastblas/vec"

// softmax replaces x, which is not empty, by the softmax of factor*x. The
// order of its sum depends on the length only.
func softmax[F Float](x []F, factor F) {
	if is32[F]() {
		vec.Softmax(as32(x), as32(x), float32(factor))
		return
	}
	m := x[0]
	for _, v := range x[1:] {
		m = max(m, v)
	}
	var sum F
	for i, v := range x {
		x[i] = exp((v - m) * factor)
		sum += x[i]
	}
	scale(x, 1/sum, x)
}

// softmaxBackward replaces p, the softmax of factor*x, by the gradient by x,
// given dp, the gradient by p, and sum, the inner product of p and dp.
func softmaxBackward[F Float](p, dp []F, sum, factor F) {
	if is32[F]() {
		vec.SoftmaxBackwardFrom(as32(p), as32(p), as32(dp), float32(sum), float32(factor))
		return
	}
	for i, v := range p {
		p[i] = v * (dp[i] - sum) * factor
	}
}
