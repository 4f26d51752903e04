package nn

// embedForward sets x (N,D) to the rows of emb (V,D) that tokens name, times factor.
func embedForward[F Float](x []F, tokens []int32, emb []F, factor F, D int) {
	for i, t := range tokens {
		scale(x[i*D:i*D+D], factor, emb[int(t)*D:int(t)*D+D])
	}
}

// positionsForward adds to rows of x (D), which stand at position first and on,
// the learned vectors of their positions.
func positionsForward[F Float](x, pos []F, first, D int) {
	if len(pos) > 0 {
		axpy(x, 1, pos[first*D:first*D+len(x)])
	}
}

// positionsBackward adds dx, rows that stand at position first and on, to dpos.
func positionsBackward[F Float](dpos, dx []F, first, D int) {
	if len(dpos) > 0 {
		axpy(dpos[first*D:first*D+len(dx)], 1, dx)
	}
}

// embedBackward adds dx (N,D), times factor, to the rows of demb (V,D).
func embedBackward[F Float](demb, dx []F, tokens []int32, factor F, D int) {
	for i, t := range tokens {
		axpy(demb[int(t)*D:int(t)*D+D], factor, dx[i*D:i*D+D])
	}
}
