package nn

// tapsForward mixes every channel of a sequence with its own past:
// out[t][c] = sum over j of w[j][c] in[t-j][c], where in[<0] is 0. in and out
// are rows of strides ldi and ldo, w is (taps,C). past holds the input rows
// before the first one, newest first, in rows of C; it is empty at the start
// of a sequence.
func tapsForward[F Float](out []F, ldo int, in []F, ldi, T int, w, past []F, C int) {
	taps := len(w) / C
	for t := range T {
		o := out[t*ldo : t*ldo+C]
		x := in[t*ldi : t*ldi+C]
		mul(o, w[:C], x)
		for j := 1; j < taps; j++ {
			var p []F
			switch {
			case t-j >= 0:
				p = in[(t-j)*ldi : (t-j)*ldi+C]
			case (j-t)*C <= len(past):
				p = past[(j-t-1)*C : (j-t)*C]
			default:
				continue
			}
			mulAdd(o, w[j*C:j*C+C], p)
		}
	}
}

// tapsBackward sets din and adds to dw the gradients of tapsForward but for
// what comes from the past.
func tapsBackward[F Float](din []F, ldi int, dw, dout []F, ldo int, in []F, T int, w []F, C int) {
	taps := len(w) / C
	for t := range T {
		dx := din[t*ldi : t*ldi+C]
		x := in[t*ldi : t*ldi+C]
		clear(dx)
		for j := 0; j < taps && t+j < T; j++ {
			dy := dout[(t+j)*ldo : (t+j)*ldo+C]
			mulAdd(dx, w[j*C:j*C+C], dy)
			mulAdd(dw[j*C:j*C+C], x, dy)
		}
	}
}

// tapsBackwardPast adds to din and dw the gradients that come from one row of
// the past, x, which stands d rows before the first one.
func tapsBackwardPast[F Float](din, dw, dout []F, ldo int, x []F, T int, w []F, C, d int) {
	for j := d; j < len(w)/C && j-d < T; j++ {
		dy := dout[(j-d)*ldo : (j-d)*ldo+C]
		mulAdd(din[:C], w[j*C:j*C+C], dy)
		mulAdd(dw[j*C:j*C+C], x[:C], dy)
	}
}
