package nn

import "math"

// rope holds the cosines and sines of rotary positions for dims rotated
// dimensions of a head: tables of (context, dims/2).
type rope[F Float] struct {
	cos, sin []F
	half     int
}

func newRope[F Float](dims, context int, base float64) rope[F] {
	if dims <= 0 {
		return rope[F]{}
	}
	r := rope[F]{make([]F, context*dims/2), make([]F, context*dims/2), dims / 2}
	for p := range context {
		for i := range r.half {
			s, c := math.Sincos(float64(p) * math.Pow(base, -float64(2*i)/float64(dims)))
			r.cos[p*r.half+i], r.sin[p*r.half+i] = F(c), F(s)
		}
	}
	return r
}

// forward rotates in place the pairs (i, i+half) of each of the heads of width
// E in row, which stands at position pos.
func (r rope[F]) forward(row []F, heads, E, pos int) {
	c, s := r.cos[pos*r.half:(pos+1)*r.half], r.sin[pos*r.half:(pos+1)*r.half]
	for h := range heads {
		a := row[h*E : h*E+r.half]
		b := row[h*E+r.half : h*E+2*r.half]
		for i, x := range a {
			y := b[i]
			a[i] = x*c[i] - y*s[i]
			b[i] = y*c[i] + x*s[i]
		}
	}
}

// backward rotates the gradient of a row back, in place.
func (r rope[F]) backward(row []F, heads, E, pos int) {
	c, s := r.cos[pos*r.half:(pos+1)*r.half], r.sin[pos*r.half:(pos+1)*r.half]
	for h := range heads {
		a := row[h*E : h*E+r.half]
		b := row[h*E+r.half : h*E+2*r.half]
		for i, x := range a {
			y := b[i]
			a[i] = x*c[i] + y*s[i]
			b[i] = y*c[i] - x*s[i]
		}
	}
}
