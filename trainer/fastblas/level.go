package fastblas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/proctor-rl/proctor/trainer/fastblas/vec"
)

// Sgemv computes y = alpha*op(a)*x + beta*y. An element of y has the bits of
// the same element of an Sgemm.
func (i Implementation) Sgemv(tA blas.Transpose, m, n int, alpha float32, a []float32, lda int, x []float32, incX int, beta float32, y []float32, incY int) {
	trans := transposed(tA)
	switch {
	case m < 0:
		panic(mLT0)
	case n < 0:
		panic(nLT0)
	}
	checkLd(lda, n, badLdA)
	lenX, lenY := n, m
	if trans {
		lenX, lenY = m, n
	}
	checkInc(incX, zeroIncX)
	checkInc(incY, zeroIncY)
	if m == 0 || n == 0 {
		return
	}
	checkVector(lenX, x, incX, shortX)
	checkVector(lenY, y, incY, shortY)
	checkLen(m, n, a, lda, shortA)
	if incX != 1 || incY != 1 {
		i.Implementation.Sgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	if beta != 0 && beta != 1 {
		vec.Scale(y[:lenY], beta, y[:lenY])
	}
	k := lenX
	if alpha == 0 {
		k = 0
	}
	// y is a row: xᵀ*op(a)ᵀ.
	Gemm(y, lenY, false, x, lenX, !trans, a, lda, 1, lenY, k, alpha, Epilogue{Accumulate: beta != 0}, nil)
}

func checkInc(inc int, text string) {
	if inc == 0 {
		panic(text)
	}
}

func checkVector(n int, x []float32, inc int, text string) {
	if inc < 0 {
		inc = -inc
	}
	if len(x) <= (n-1)*inc {
		panic(text)
	}
}

// Sdot returns the sum of x[i]*y[i].
func (i Implementation) Sdot(n int, x []float32, incX int, y []float32, incY int) float32 {
	if incX != 1 || incY != 1 || n <= 0 || len(x) < n || len(y) < n {
		return i.Implementation.Sdot(n, x, incX, y, incY)
	}
	return vec.Dot(x[:n], y[:n])
}

// Saxpy adds alpha*x[i] to y[i].
func (i Implementation) Saxpy(n int, alpha float32, x []float32, incX int, y []float32, incY int) {
	if incX != 1 || incY != 1 || n <= 0 || len(x) < n || len(y) < n {
		i.Implementation.Saxpy(n, alpha, x, incX, y, incY)
		return
	}
	if alpha != 0 {
		vec.Axpy(y[:n], alpha, x[:n])
	}
}

// Sscal multiplies x[i] by alpha.
func (i Implementation) Sscal(n int, alpha float32, x []float32, incX int) {
	if incX != 1 || n <= 0 || len(x) < n || alpha == 0 {
		i.Implementation.Sscal(n, alpha, x, incX)
		return
	}
	vec.Scale(x[:n], alpha, x[:n])
}
