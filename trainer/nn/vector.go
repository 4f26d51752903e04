package nn

import "github.com/proctor-rl/proctor/trainer/fastblas/vec"

// axpy adds a*x to y.
func axpy[F Float](y []F, a F, x []F) {
	if is32[F]() {
		vec.Axpy(as32(y), float32(a), as32(x))
		return
	}
	x = x[:len(y)]
	for i, v := range x {
		y[i] += a * v
	}
}

// dot is the inner product of x and y.
func dot[F Float](x, y []F) F {
	if is32[F]() {
		return F(vec.Dot(as32(x), as32(y)))
	}
	y = y[:len(x)]
	var s F
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// scale sets dst to a*x.
func scale[F Float](dst []F, a F, x []F) {
	if is32[F]() {
		vec.Scale(as32(dst), float32(a), as32(x))
		return
	}
	for i, v := range x {
		dst[i] = a * v
	}
}

// mul sets dst to the product of x and y, element by element.
func mul[F Float](dst, x, y []F) {
	if is32[F]() {
		vec.Mul(as32(dst), as32(x), as32(y))
		return
	}
	for i, v := range x {
		dst[i] = v * y[i]
	}
}

// mulAdd adds the product of x and y, element by element, to dst.
func mulAdd[F Float](dst, x, y []F) {
	n := 0
	if is32[F]() && fast && len(x) >= 8 {
		n = len(x) &^ 7
		_, _ = dst[n-1], y[n-1]
		mulAddKernel(&as32(dst)[0], &as32(x)[0], &as32(y)[0], n)
	}
	for i := n; i < len(x); i++ {
		dst[i] += F(x[i] * y[i]) //nolint:unconvert // or arm64 fuses it
	}
}
