package nn

// expShifted sets out[i] = exp((in[i]-m)*scale) where m is the largest of in,
// and returns m and the sum of out. out and in may be one slice. in is not
// empty. The order of the sum depends on the length only.
func expShifted[F Float](out, in []F, scale F) (m, sum F) {
	m = in[0]
	for _, v := range in[1:] {
		if v > m {
			m = v
		}
	}
	out = out[:len(in)]
	for i, v := range in {
		e := exp((v - m) * scale)
		out[i] = e
		sum += e
	}
	return m, sum
}

// scaleBy multiplies x by a.
func scaleBy[F Float](x []F, a F) {
	for i := range x {
		x[i] *= a
	}
}
