package fastblas

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/proctor-rl/proctor/trainer/fastblas/vec"
)

// Implementation is gonum's BLAS with fast float32 products: Sgemm, Sgemv,
// Sdot, Saxpy and Sscal are this package's, everything else is gonum's.
//
//	blas32.Use(fastblas.Implementation{})
//
// It differs from gonum in one thing: a zero in a matrix times an infinity or
// a NaN in the other gives NaN, where gonum skips some zeros.
type Implementation struct {
	gonum.Implementation
}

var _ blas.Float32 = Implementation{}

// Panic texts of gonum, for the same mistakes.
const (
	badTranspose = "blas: illegal transpose"
	mLT0         = "blas: m < 0"
	nLT0         = "blas: n < 0"
	kLT0         = "blas: k < 0"
	badLdA       = "blas: bad leading dimension of A"
	badLdB       = "blas: bad leading dimension of B"
	badLdC       = "blas: bad leading dimension of C"
	shortA       = "blas: insufficient length of a"
	shortB       = "blas: insufficient length of b"
	shortC       = "blas: insufficient length of c"
	zeroIncX     = "blas: zero x index increment"
	zeroIncY     = "blas: zero y index increment"
	shortX       = "blas: insufficient length of x"
	shortY       = "blas: insufficient length of y"
)

func transposed(t blas.Transpose) bool {
	switch t {
	case blas.NoTrans:
		return false
	case blas.Trans, blas.ConjTrans:
		return true
	}
	panic(badTranspose)
}

func checkLd(ld, cols int, text string) {
	if ld < max(1, cols) {
		panic(text)
	}
}

func checkLen(rows, cols int, x []float32, ld int, text string) {
	if rows > 0 && cols > 0 && len(x) < (rows-1)*ld+cols {
		panic(text)
	}
}

// Sgemm computes c = alpha*op(a)*op(b) + beta*c.
func (Implementation) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	ta, tb := transposed(tA), transposed(tB)
	switch {
	case m < 0:
		panic(mLT0)
	case n < 0:
		panic(nLT0)
	case k < 0:
		panic(kLT0)
	}
	ra, ca, rb, cb := m, k, k, n
	if ta {
		ra, ca = k, m
	}
	if tb {
		rb, cb = n, k
	}
	checkLd(lda, ca, badLdA)
	checkLd(ldb, cb, badLdB)
	checkLd(ldc, n, badLdC)
	if m == 0 || n == 0 {
		return
	}
	checkLen(ra, ca, a, lda, shortA)
	checkLen(rb, cb, b, ldb, shortB)
	checkLen(m, n, c, ldc, shortC)
	add := beta != 0
	if beta != 0 && beta != 1 {
		for i := range m {
			vec.Scale(c[i*ldc:i*ldc+n], beta, c[i*ldc:i*ldc+n])
		}
	}
	if alpha == 0 {
		k = 0
	}
	Gemm(c, ldc, ta, a, lda, tb, b, ldb, m, n, k, alpha, Epilogue{Accumulate: add}, nil)
}
