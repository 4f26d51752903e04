package vec

import "math"

// RoPE turns the head x by the angles of its position: element i of the first
// half and element i of the second are a pair. cos and sin hold one angle a
// pair, see RoPEAngles.
func RoPE(x, cos, sin []float32) { rope(x, cos, sin, 1) }

// RoPEBackward turns a gradient back by the same angles.
func RoPEBackward(dx, cos, sin []float32) { rope(dx, cos, sin, -1) }

func rope(x, cos, sin []float32, sign float32) {
	h := len(x) / 2
	same(len(x), 2*h)
	same(h, len(cos), len(sin))
	a, b := x[:h], x[h:]
	if fast {
		ropeKernel(first(a), first(b), first(cos), first(sin), sign, h)
		return
	}
	for i, u := range a {
		v, c, s := b[i], cos[i], sign*sin[i]
		a[i] = float32(u*c) - float32(v*s)
		b[i] = float32(v*c) + float32(u*s)
	}
}

// RoPEAngles fills cos and sin for one position: pair i of h turns by
// position*base^(-i/h).
func RoPEAngles(cos, sin []float32, position int, base float64) {
	same(len(cos), len(sin))
	for i := range cos {
		s, c := math.Sincos(float64(position) * math.Pow(base, -float64(i)/float64(len(cos))))
		cos[i], sin[i] = float32(c), float32(s)
	}
}
