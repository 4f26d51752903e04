package nn

// embedForward sets x (N,D) to the rows of emb (V,D) that tokens name, times scale.
func embedForward[F Float](x []F, tokens []int32, emb []F, scale F, D int) {
	for i, t := range tokens {
		e := emb[int(t)*D : int(t)*D+D]
		xi := x[i*D : i*D+D]
		for j, v := range e {
			xi[j] = v * scale
		}
	}
}

// embedBackward adds dx (N,D), times scale, to the rows of demb (V,D).
func embedBackward[F Float](demb, dx []F, tokens []int32, scale F, D int) {
	for i, t := range tokens {
		axpy(demb[int(t)*D:int(t)*D+D], scale, dx[i*D:i*D+D])
	}
}
