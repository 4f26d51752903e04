package nn

import (
	"math"
	"unsafe"
)

// Float is what the kernels compute in.
type Float interface{ float32 | float64 }

// is32 tells the instantiations apart; it is a constant in each of them.
func is32[F Float]() bool { return unsafe.Sizeof(F(0)) == 4 }

// as32 reinterprets s, which must hold float32.
func as32[F Float](s []F) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// exp is e^x. In float32 it is within 2 units in the last place and 0 below
// -87; in float64 it is the library's.
func exp[F Float](x F) F {
	if is32[F]() {
		return F(exp32(float32(x)))
	}
	return F(math.Exp(float64(x)))
}

// exp32 reduces x by multiples of ln 2 to [-ln2/2, ln2/2] (two-part constant
// after Cody and Waite), takes the Taylor polynomial of degree 7 there and puts
// the multiple into the exponent.
func exp32(x float32) float32 {
	const (
		log2e = 1.4426950408889634
		ln2Hi = 0.693145751953125 // 1.4286068203094172321215e-6 below ln 2
		ln2Lo = 1.4286068203094172e-6
		magic = 1.5 * (1 << 23) // adding it rounds to an integer
	)
	switch {
	case x != x:
		return x
	case x < -87:
		return 0
	case x > 88.3:
		return float32(math.Inf(1))
	}
	n := x*log2e + magic
	n -= magic
	r := x - n*ln2Hi
	r -= n * ln2Lo
	p := float32(1.0 / 5040)
	p = p*r + 1.0/720
	p = p*r + 1.0/120
	p = p*r + 1.0/24
	p = p*r + 1.0/6
	p = p*r + 0.5
	p = p*r + 1
	p = p*r + 1
	return p * math.Float32frombits(uint32(int32(n)+127)<<23)
}

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
