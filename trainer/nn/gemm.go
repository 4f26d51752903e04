package nn

import "github.com/proctor-rl/proctor/trainer/fastblas"

// Matrix products. Every element of the result is one sum over k in ascending
// order that does not depend on how many rows are asked for at once; that is
// what makes a token's result independent of its batch. ws is the scratch
// memory of the fast ones.

// gemmNN sets (or with acc adds to) c (m,n) the product of a (m,k) and b (k,n).
func gemmNN[F Float](ws *fastblas.Workspace, acc bool, m, n, k int, a []F, lda int, b []F, ldb int, c []F, ldc int) {
	if is32[F]() {
		fastblas.Gemm(as32(c), ldc, false, as32(a), lda, false, as32(b), ldb, m, n, k, 1, fastblas.Epilogue{Accumulate: acc}, ws)
		return
	}
	for i := range m {
		ci := c[i*ldc : i*ldc+n]
		if !acc {
			clear(ci)
		}
		for l, ail := range a[i*lda : i*lda+k] {
			axpy(ci, ail, b[l*ldb:l*ldb+n])
		}
	}
}

// gemmNT is gemmNN with b given as (n,k).
func gemmNT[F Float](ws *fastblas.Workspace, acc bool, m, n, k int, a []F, lda int, b []F, ldb int, c []F, ldc int) {
	if is32[F]() {
		fastblas.Gemm(as32(c), ldc, false, as32(a), lda, true, as32(b), ldb, m, n, k, 1, fastblas.Epilogue{Accumulate: acc}, ws)
		return
	}
	for i := range m {
		for j := range n {
			s := dot(a[i*lda:i*lda+k], b[j*ldb:j*ldb+k])
			if acc {
				s += c[i*ldc+j]
			}
			c[i*ldc+j] = s
		}
	}
}

// gemmTN is gemmNN with a given as (k,m).
func gemmTN[F Float](ws *fastblas.Workspace, acc bool, m, n, k int, a []F, lda int, b []F, ldb int, c []F, ldc int) {
	if is32[F]() {
		fastblas.Gemm(as32(c), ldc, true, as32(a), lda, false, as32(b), ldb, m, n, k, 1, fastblas.Epilogue{Accumulate: acc}, ws)
		return
	}
	if !acc {
		for i := range m {
			clear(c[i*ldc : i*ldc+n])
		}
	}
	for l := range k {
		bl := b[l*ldb : l*ldb+n]
		for i, v := range a[l*lda : l*lda+m] {
			axpy(c[i*ldc:i*ldc+n], v, bl)
		}
	}
}

// packPanels writes b (k,n), rows ldb apart, to dst in panels: 16 columns lie
// side by side, the last panel filled up with zeros.
func packPanels[F Float](dst, b []F, ldb, k, n int) {
	if is32[F]() {
		fastblas.PackPanels(as32(dst), as32(b), ldb, k, n)
		return
	}
	clear(dst[:k*roundUp(n)])
	for l := range k {
		for j, v := range b[l*ldb : l*ldb+n] {
			dst[(j/panel*k+l)*panel+j%panel] = v
		}
	}
}

// packPanelsTrans is packPanels with b given as (n,k).
func packPanelsTrans[F Float](dst, b []F, ldb, k, n int) {
	if is32[F]() {
		fastblas.PackPanelsTrans(as32(dst), as32(b), ldb, k, n)
		return
	}
	clear(dst[:k*roundUp(n)])
	putPanels(dst, 0, b, ldb, n, k)
}

// gemmPanels sets (or with add adds to) c (m,n) the product of a, element (i,l)
// of which is a[i*rsA+l*csA], and a matrix in panels that are ps apart.
func gemmPanels[F Float](c []F, ldc int, a []F, rsA, csA int, b []F, ps, m, n, k int, add bool) {
	if is32[F]() {
		fastblas.GemmPanels(as32(c), ldc, as32(a), rsA, csA, as32(b), ps, m, n, k, add)
		return
	}
	for i := range m {
		for j := range n {
			var s F
			for l := range k {
				s += a[i*rsA+l*csA] * b[j/panel*ps+l*panel+j%panel]
			}
			if add {
				s += c[i*ldc+j]
			}
			c[i*ldc+j] = s
		}
	}
}
