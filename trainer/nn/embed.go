package nn

// embedForward sets x (N,D) to the rows of emb (V,D) that tokens name, times factor.
func embedForward[F Float](x []F, tokens []int32, emb []F, factor F, D int) {
	for i, t := range tokens {
		scale(x[i*D:i*D+D], factor, emb[int(t)*D:int(t)*D+D])
	}
}

// embedBackward adds dx (N,D), times factor, to the rows of demb (V,D).
func embedBackward[F Float](demb, dx []F, tokens []int32, factor F, D int) {
	for i, t := range tokens {
		axpy(demb[int(t)*D:int(t)*D+D], factor, dx[i*D:i*D+D])
	}
}
