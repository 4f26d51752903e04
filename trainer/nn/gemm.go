package nn

// Matrix products. Every element of the result is one sum over k in ascending
// order that does not depend on how many rows are asked for at once; that is
// what makes a token's result independent of its batch.

// gemmNN sets (or with acc adds to) c (m,n) the product of a (m,k) and b (k,n).
func gemmNN[F Float](acc bool, m, n, k int, a []F, lda int, b []F, ldb int, c []F, ldc int) {
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
func gemmNT[F Float](acc bool, m, n, k int, a []F, lda int, b []F, ldb int, c []F, ldc int) {
	for i := range m {
		ai := a[i*lda : i*lda+k]
		ci := c[i*ldc : i*ldc+n]
		for j := range ci {
			bj := b[j*ldb : j*ldb+k]
			var s F
			if acc {
				s = ci[j]
			}
			for l, v := range ai {
				s += v * bj[l]
			}
			ci[j] = s
		}
	}
}

// gemmTN is gemmNN with a given as (k,m).
func gemmTN[F Float](acc bool, m, n, k int, a []F, lda int, b []F, ldb int, c []F, ldc int) {
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

// axpy adds a*x to y.
func axpy[F Float](y []F, a F, x []F) {
	x = x[:len(y)]
	for i, v := range x {
		y[i] += a * v
	}
}
