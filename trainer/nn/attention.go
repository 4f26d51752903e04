package nn

// Attention is computed one query of one head at a time, against keys that are
// stored transposed, (E, capacity), so that the sums over the head's width run
// in ascending order and the keys lie side by side. Training, prefill and
// decoding all come through attend, which is why they agree bit for bit.

// attend sets out (E) to the mixture of the first n rows of v (stride ldv) by
// the softmax of the products of q (E) with the first n keys of kt (stride
// ldk), times factor, and leaves the softmax in prob (n). Strides are multiples of 8, and prob has room
// for n rounded up to one: whole vectors are computed.
func attend[F Float](out, prob, q, kt []F, ldk int, v []F, ldv, n int, factor F) {
	scores(prob, q, kt, ldk, n)
	softmax(prob[:n], factor)
	mixRows(out, prob, v, ldv, n)
}

// attendBackward is the gradient of attend given its softmax prob, the
// gradient dout of its result, the values transposed in vt (stride ldt) and
// the keys as rows in k (stride ldr). It sets dq and adds to the rows of dk
// (stride ldr too) and dv. tmp has room for n
// rounded up to a multiple of 8.
func attendBackward[F Float](dq, dk, dv []F, ldr, ldv int, dout, prob, q, k, vt []F, ldt, n int, factor F, tmp []F) {
	scores(tmp, dout, vt, ldt, n)
	tmp, prob = tmp[:n], prob[:n]
	softmaxBackward(tmp, prob, factor)
	mixRows(dq, tmp, k, ldr, n)
	addOuter(dk, ldr, tmp, q)
	addOuter(dv, ldv, prob, dout)
}

// scores sets s[j] = sum over e of q[e] kt[e][j] for j < n. It may write up to
// the next multiple of 8.
func scores[F Float](s, q, kt []F, ld, n int) {
	if is32[F]() && fast {
		up := (n + 7) &^ 7
		_, _ = s[up-1], kt[(len(q)-1)*ld+up-1]
		scoresKernel(&as32(s)[0], &as32(q)[0], &as32(kt)[0], ld, n, len(q))
		return
	}
	s = s[:n]
	clear(s)
	for e, v := range q {
		axpy(s, v, kt[e*ld:e*ld+n])
	}
}

// mixRows sets out[e] = sum over j < n of p[j] v[j][e].
func mixRows[F Float](out, p, v []F, ld, n int) {
	if is32[F]() && fast && len(out)%8 == 0 {
		_, _ = p[n-1], v[(n-1)*ld+len(out)-1]
		mixRowsKernel(&as32(out)[0], &as32(p)[0], &as32(v)[0], ld, n, len(out))
		return
	}
	clear(out)
	for j, w := range p[:n] {
		axpy(out, w, v[j*ld:j*ld+len(out)])
	}
}

// addOuter adds p[j] x to row j of dst.
func addOuter[F Float](dst []F, ld int, p, x []F) {
	if is32[F]() && fast && len(x)%8 == 0 {
		_ = dst[(len(p)-1)*ld+len(x)-1]
		addOuterKernel(&as32(dst)[0], ld, &as32(p)[0], &as32(x)[0], len(p), len(x))
		return
	}
	for j, w := range p {
		axpy(dst[j*ld:j*ld+len(x)], w, x)
	}
}

// transpose sets the first T columns of dst (E, ld) to the rows of src
// (T rows of E, stride lds).
func transpose[F Float](dst []F, ld int, src []F, lds, T, E int) {
	for t := range T {
		for e, v := range src[t*lds : t*lds+E] {
			dst[e*ld+t] = v
		}
	}
}
