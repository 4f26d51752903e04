package nn

import (
	"math"
	"unsafe"
)

// Float is what the kernels compute in.
type Float interface{ float32 | float64 }

// is32 tells the instantiations apart; it is a constant in each of them. In
// float32 every kernel goes to the fast ones, which have plain loops of their
// own for machines without assembly; what is written out here is the float64
// reference, and the definition.
func is32[F Float]() bool { return unsafe.Sizeof(F(0)) == 4 }

// as32 reinterprets s, which must hold float32.
func as32[F Float](s []F) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// exp is e^x.
func exp[F Float](x F) F { return F(math.Exp(float64(x))) }

func sqrt[F Float](x F) F { return F(math.Sqrt(float64(x))) }

func log[F Float](x F) F { return F(math.Log(float64(x))) }

// fit returns *s with length n, growing it when it is too small. The contents
// are arbitrary.
func fit[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n+n/4)
	}
	*s = (*s)[:n]
	return *s
}
