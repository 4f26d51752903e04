package vec

import (
	"math"
	"unsafe"
)

// first is the address of x[0], also where x is empty.
func first(x []float32) *float32 { return unsafe.SliceData(x) }

// Exp sets dst[i] = exp(x[i]) within a relative error of 1e-6 over the whole
// range: it overflows to +Inf, underflows through the denormal numbers to 0
// and keeps NaN. dst may be x.
func Exp(dst, x []float32) {
	same(len(dst), len(x))
	if fast {
		expKernel(first(dst), first(x), len(x))
		return
	}
	for i, v := range x {
		dst[i] = float32(math.Exp(float64(v)))
	}
}

// Add sets dst[i] += x[i].
func Add(dst, x []float32) {
	same(len(dst), len(x))
	if fast {
		addKernel(first(dst), first(x), len(x))
		return
	}
	for i, v := range x {
		dst[i] += v
	}
}

// Mul sets dst[i] = x[i]*y[i]. dst may be x or y.
func Mul(dst, x, y []float32) {
	same(len(dst), len(x), len(y))
	if fast {
		mulKernel(first(dst), first(x), first(y), len(x))
		return
	}
	for i, v := range x {
		dst[i] = v * y[i]
	}
}

// Scale sets dst[i] = a*x[i]. dst may be x.
func Scale(dst []float32, a float32, x []float32) {
	same(len(dst), len(x))
	if fast {
		scaleKernel(first(dst), first(x), a, len(x))
		return
	}
	for i, v := range x {
		dst[i] = a * v
	}
}

// Axpy sets dst[i] += a*x[i].
func Axpy(dst []float32, a float32, x []float32) {
	same(len(dst), len(x))
	if fast {
		axpyKernel(first(dst), first(x), a, len(x))
		return
	}
	for i, v := range x {
		dst[i] += float32(a * v)
	}
}
