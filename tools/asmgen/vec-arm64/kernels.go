package main

import "math"

func (k *kernels) simple() {
	k.begin("expKernel", "dst, x *float32, n int)", "sets dst = exp(x).", "dst", "x")
	k.each(2, func(l lanes) {
		x := l.load(1)
		k.exp(x)
		l.store(0, x)
	})
	k.end()

	k.begin("addKernel", "dst, x *float32, n int)", "sets dst += x.", "dst", "x")
	k.each(4, func(l lanes) {
		x, y := l.load(1), l.load(0)
		k.add(y, y, x)
		l.store(0, y)
	})
	k.end()

	k.begin("mulKernel", "dst, x, y *float32, n int)", "sets dst = x*y.", "dst", "x", "y")
	k.each(4, func(l lanes) {
		x, y := l.load(1), l.load(2)
		k.mul(y, y, x)
		l.store(0, y)
	})
	k.end()

	k.begin("scaleKernel", "dst, x *float32, a float32, n int)", "sets dst = a*x.", "dst", "x")
	a := k.spread("a")
	k.each(4, func(l lanes) {
		x := l.load(1)
		k.mul(x, x, a)
		l.store(0, x)
	})
	k.end()

	k.begin("axpyKernel", "dst, x *float32, a float32, n int)", "sets dst += a*x.", "dst", "x")
	a = k.spread("a")
	k.each(4, func(l lanes) {
		x, y := l.load(1), l.load(0)
		k.fma(y, x, a)
		l.store(0, y)
	})
	k.end()

	k.begin("ropeKernel", "x, y, cos, sin *float32, sign float32, n int)", "turns every pair (x,y) by its angle, backwards where sign is -1.", "x", "y", "cos", "sin")
	sign := k.spread("sign")
	k.each(1, func(l lanes) {
		x, y, c, s := l.load(0), l.load(1), l.load(2), l.load(3)
		k.mul(s, s, sign)
		u, v := k.pair(), k.pair()
		k.mul(u, x, c)
		k.fms(u, y, s)
		k.mul(v, y, c)
		k.fma(v, x, s)
		l.store(0, u)
		l.store(1, v)
	})
	k.end()
}

// fold adds accumulators, four of them as two pairs.
func (k *kernels) fold(s []pair) pair {
	k.add(s[0], s[0], s[1])
	if len(s) == 4 {
		k.add(s[2], s[2], s[3])
		k.add(s[0], s[0], s[2])
	}
	return s[0]
}

func (k *kernels) reductions() {
	k.begin("sumKernel", "x *float32, n int) float32", "adds the elements of x.", "x")
	s := k.sums(4)
	k.each(4, func(l lanes) {
		x := l.load(0)
		k.add(s[l.off], s[l.off], x)
	})
	k.result(k.horizontal(k.fold(s)), "ret")
	k.end()

	k.begin("dotKernel", "x, y *float32, n int) float32", "adds the products of x and y.", "x", "y")
	s = k.sums(4)
	k.each(4, func(l lanes) {
		x, y := l.load(0), l.load(1)
		k.fma(s[l.off], x, y)
	})
	k.result(k.horizontal(k.fold(s)), "ret")
	k.end()

	k.begin("devKernel", "x *float32, mean float32, n int) float32", "adds the squared distances of x from mean.", "x")
	mean := k.spread("mean")
	s = k.sums(4)
	k.each(4, func(l lanes) {
		x := l.load(0)
		k.sub(x, x, mean)
		l.keep(x)
		k.fma(s[l.off], x, x)
	})
	k.result(k.horizontal(k.fold(s)), "ret")
	k.end()

	k.squares()
	k.top()
}

// squares has 4 lanes of float64 in a pair.
func (k *kernels) squares() {
	k.begin("squaresKernel", "x *float32, n int) float64", "adds the squares of x in float64.", "x")
	d := k.sums(4)
	k.each(2, func(l lanes) {
		x := l.load(0)
		for half := range 2 {
			y, sum := k.pair(), d[2*l.off+half]
			k.f.Fcvtl(y[0], x[half])
			k.f.Fcvtl2(y[1], x[half])
			k.each2("VFMLA V%d.D2, V%d.D2, V%d.D2", y, y, sum)
		}
	})
	for _, p := range [][2]int{{0, 1}, {2, 3}, {0, 2}} {
		three(k.f.FaddD, d[p[0]], d[p[0]], d[p[1]])
	}
	r, t := d[0][0], d[0][1]
	k.f.FaddD(r, r, t)
	k.f.I("VMOV V%d.D[1], V%d.D[0]", r, t)
	k.f.I("FADDD F%d, F%d, F%d", t, r, r)
	k.f.I("FMOVD F%d, %s", r, k.f.Arg("ret"))
	k.end()
}

func (k *kernels) top() {
	k.begin("maxKernel", "x *float32, n int) float32", "returns the largest element of x, -Inf where x is empty. NaN does not count.", "x")
	top := k.sums(4)
	for _, p := range top {
		k.constant(p, float32(math.Inf(-1)))
	}
	k.each(4, func(l lanes) {
		x := l.load(0)
		if l.part {
			k.each2("VBIF V%d.B16, V%d.B16, V%d.B16", l.mask(), top[0], x)
		}
		k.max(top[l.off], x)
	})
	// Of equal ones, which may be zeros of two signs, the second stays.
	k.max(top[1], top[0])
	k.max(top[3], top[2])
	k.max(top[3], top[1])
	low, high := pair{top[3][0], top[3][0]}, pair{top[3][1], top[3][1]}
	k.max(low, high)
	k.f.I("VMOV V%d.D[1], V%d.D[0]", low[0], high[0])
	k.max(low, high)
	k.f.I("VMOV V%d.S[1], V%d.S[0]", low[0], high[0])
	k.max(low, high)
	k.result(low[0], "ret")
	k.end()
}

const (
	geluIn    = 2 * 0.7978845608028654
	geluCubic = geluIn * 0.044715
)

func (k *kernels) geluGate(x pair) pair {
	u := k.pair()
	k.mul(u, x, x)
	k.mul(u, u, k.num(geluCubic))
	k.add(u, u, k.num(geluIn))
	k.mul(u, u, x)
	k.sigmoid(u)
	return u
}

// siluSlope returns s + x*s*(1-s) and uses up s.
func (k *kernels) siluSlope(x, s pair) pair {
	t := k.pair()
	k.sub(t, k.num(1), s)
	k.mul(t, t, x)
	r := k.copied(s)
	k.fma(r, s, t)
	return r
}

// clamp bounds x. NaN stays.
func (k *kernels) clamp(x pair, bound float32) {
	k.min(x, k.num(bound))
	k.max(x, k.num(-bound))
}

func (k *kernels) activations() {
	k.begin("geluKernel", "dst, x *float32, n int)", "sets dst to GELU of x in the tanh form.", "dst", "x")
	k.each(2, func(l lanes) {
		x := l.load(1)
		s := k.geluGate(x)
		k.mul(s, s, x)
		l.store(0, s)
	})
	k.end()

	k.begin("geluBackKernel", "dst, dy, x *float32, n int)", "sets dst to dy times the slope of GELU at x.", "dst", "dy", "x")
	k.each(1, func(l lanes) {
		x := l.load(2)
		k.clamp(x, 30)
		s := k.geluGate(x)
		u := k.pair()
		k.mul(u, x, x)
		k.mul(u, u, k.num(3*geluCubic))
		k.add(u, u, k.num(geluIn))
		k.mul(u, u, x)
		t := k.siluSlope(u, s)
		dy := l.load(1)
		k.mul(dy, dy, t)
		l.store(0, dy)
	})
	k.end()

	k.begin("siluKernel", "dst, x *float32, n int)", "sets dst to SiLU of x.", "dst", "x")
	k.each(2, func(l lanes) {
		x := l.load(1)
		s := k.copied(x)
		k.sigmoid(s)
		k.mul(s, s, x)
		l.store(0, s)
	})
	k.end()

	k.begin("siluBackKernel", "dst, dy, x *float32, n int)", "sets dst to dy times the slope of SiLU at x.", "dst", "dy", "x")
	k.each(1, func(l lanes) {
		x := l.load(2)
		k.clamp(x, 200)
		s := k.copied(x)
		k.sigmoid(s)
		t := k.siluSlope(x, s)
		dy := l.load(1)
		k.mul(dy, dy, t)
		l.store(0, dy)
	})
	k.end()

	k.begin("swigluKernel", "dst, gate, up *float32, n int)", "sets dst = SiLU(gate)*up.", "dst", "gate", "up")
	k.each(1, func(l lanes) {
		x := l.load(1)
		s := k.copied(x)
		k.sigmoid(s)
		k.mul(s, s, x)
		k.mul(s, s, l.load(2))
		l.store(0, s)
	})
	k.end()

	k.begin("swigluBackKernel", "dgate, dup, dy, gate, up *float32, n int)", "sets dgate and dup to the gradients of SwiGLU.", "dgate", "dup", "dy", "gate", "up")
	k.each(1, func(l lanes) {
		x := l.load(3)
		s, c := k.copied(x), k.copied(x)
		k.clamp(c, 200)
		k.sigmoid(s)
		t := k.siluSlope(c, s)
		dy, up := l.load(2), l.load(4)
		k.mul(s, s, x)
		k.mul(s, s, dy)
		k.mul(dy, dy, up)
		k.mul(dy, dy, t)
		l.store(0, dy)
		l.store(1, s)
	})
	k.end()
}
