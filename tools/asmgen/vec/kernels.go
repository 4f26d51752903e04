package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func simple() {
	begin("expKernel", "dst, x *float32, n int)", "sets dst = exp(x).")
	each(gps("dst", "x"), gp("n"), 2, func(l lanes) {
		x := l.load(1)
		exp(x)
		l.store(0, x)
	})
	end()

	begin("addKernel", "dst, x *float32, n int)", "sets dst += x.")
	each(gps("dst", "x"), gp("n"), 4, func(l lanes) {
		x, y := l.load(1), l.load(0)
		VADDPS(x, y, y)
		l.store(0, y)
	})
	end()

	begin("mulKernel", "dst, x, y *float32, n int)", "sets dst = x*y.")
	each(gps("dst", "x", "y"), gp("n"), 4, func(l lanes) {
		x, y := l.load(1), l.load(2)
		VMULPS(x, y, y)
		l.store(0, y)
	})
	end()

	begin("scaleKernel", "dst, x *float32, a float32, n int)", "sets dst = a*x.")
	a := broadcast("a")
	each(gps("dst", "x"), gp("n"), 4, func(l lanes) {
		x := l.load(1)
		VMULPS(x, full(a), x)
		l.store(0, x)
	})
	end()

	begin("axpyKernel", "dst, x *float32, a float32, n int)", "sets dst += a*x.")
	a = broadcast("a")
	each(gps("dst", "x"), gp("n"), 4, func(l lanes) {
		x, y := l.load(1), l.load(0)
		VFMADD231PS(x, full(a), y)
		l.store(0, y)
	})
	end()

	begin("ropeKernel", "x, y, cos, sin *float32, sign float32, n int)", "turns every pair (x,y) by its angle, backwards where sign is -1.")
	sign := broadcast("sign")
	each(gps("x", "y", "cos", "sin"), gp("n"), 1, func(l lanes) {
		x, y, c, s := l.load(0), l.load(1), l.load(2), l.load(3)
		VMULPS(full(sign), s, s)
		u, v := vector(), vector()
		VMULPS(c, x, u)
		VFNMADD231PS(s, y, u)
		VMULPS(c, y, v)
		VFMADD231PS(s, x, v)
		l.store(0, u)
		l.store(1, v)
	})
	end()
}

// sums declares an even number of accumulators, one for each group of 8 of a
// turn.
func sums(k int) []reg.VecVirtual {
	s := make([]reg.VecVirtual, k)
	for i := range s {
		s[i] = zero()
	}
	pair(s)
	return s
}

func pair(s []reg.VecVirtual) {
	for i := 0; i < len(s); i += 2 {
		pairs = append(pairs, s[i:i+2])
	}
}

// fold adds four accumulators as two pairs.
func fold(s []reg.VecVirtual) reg.VecVirtual {
	VADDPS(s[1], s[0], s[0])
	VADDPS(s[3], s[2], s[2])
	VADDPS(s[2], s[0], s[0])
	return s[0]
}

func reductions() {
	begin("sumKernel", "x *float32, n int) float32", "adds the elements of x.")
	s := sums(4)
	each(gps("x"), gp("n"), 4, func(l lanes) {
		x := l.load(0)
		VADDPS(x, l.of(s), l.of(s))
	})
	Store(horizontal(fold(s)), ReturnIndex(0))
	end()

	begin("dotKernel", "x, y *float32, n int) float32", "adds the products of x and y.")
	s = sums(4)
	each(gps("x", "y"), gp("n"), 4, func(l lanes) {
		x, y := l.load(0), l.load(1)
		VFMADD231PS(x, y, l.of(s))
	})
	Store(horizontal(fold(s)), ReturnIndex(0))
	end()

	begin("devKernel", "x *float32, mean float32, n int) float32", "adds the squared distances of x from mean.")
	mean := broadcast("mean")
	s = sums(4)
	each(gps("x"), gp("n"), 4, func(l lanes) {
		x := l.load(0)
		VSUBPS(full(mean), x, x)
		l.keep(x)
		VFMADD231PS(x, x, l.of(s))
	})
	Store(horizontal(fold(s)), ReturnIndex(0))
	end()

	begin("squaresKernel", "x *float32, n int) float64", "adds the squares of x in float64.")
	d := sums(4)
	each(gps("x"), gp("n"), 2, func(l lanes) {
		x := l.load(0)
		lo, hi := vector(), vector()
		if wide { // 8 and 8, to the accumulators of two groups
			h := YMM()
			VCVTPS2PD(x.AsY(), lo)
			VEXTRACTF64X4(Imm(1), x, h)
			VCVTPS2PD(h, hi)
			VFMADD231PD(lo, lo, full(d[0]))
			VFMADD231PD(hi, hi, full(d[2]))
			return
		}
		h := XMM()
		VCVTPS2PD(x.AsX(), lo)
		VEXTRACTF128(Imm(1), x, h)
		VCVTPS2PD(h, hi)
		VFMADD231PD(lo, lo, d[2*l.off])
		VFMADD231PD(hi, hi, d[2*l.off+1])
	})
	VADDPD(d[1], d[0], d[0])
	VADDPD(d[3], d[2], d[2])
	VADDPD(d[2], d[0], d[0])
	h, t := XMM(), XMM()
	VEXTRACTF128(Imm(1), d[0], h)
	VADDPD(d[0].AsX(), h, h)
	VPERMILPD(Imm(1), h, t)
	VADDSD(h, t, h)
	Store(h, ReturnIndex(0))
	end()

	begin("maxKernel", "x *float32, n int) float32", "returns the largest element of x, -Inf where x is empty. NaN does not count.")
	top := make([]reg.VecVirtual, 4)
	for i := range top {
		top[i] = constant(bits(math.Float32bits(float32(math.Inf(-1)))))
	}
	pair(top)
	each(gps("x"), gp("n"), 4, func(l lanes) {
		x := l.load(0)
		if l.part {
			VBLENDVPS(l.mask, x, top[0], x)
		}
		// A NaN in x gives way to the top so far.
		VMAXPS(l.of(top), x, l.of(top))
	})
	VMAXPS(top[1], top[0], top[0])
	VMAXPS(top[3], top[2], top[2])
	VMAXPS(top[2], top[0], top[0])
	hi, lo := XMM(), XMM()
	VEXTRACTF128(Imm(1), top[0], hi)
	VMAXPS(top[0].AsX(), hi, lo)
	VMOVHLPS(lo, lo, hi)
	VMAXPS(lo, hi, lo)
	VMOVSHDUP(lo, hi)
	VMAXSS(lo, hi, lo)
	Store(lo, ReturnIndex(0))
	end()
}

// sigmoid returns 1/(1+exp(-x)) and uses up x.
func sigmoid(x reg.VecVirtual) reg.VecVirtual {
	flip(x)
	exp(x)
	one := constant(num(1))
	VADDPS(one, x, x)
	VDIVPS(x, one, x)
	return x
}

// The tanh form of GELU is x times the logistic function of 2u, where
// u = sqrt(2/pi)*(x + 0.044715*x^3).
const (
	geluIn    = 2 * 0.7978845608028654
	geluCubic = geluIn * 0.044715
)

func geluGate(x reg.VecVirtual) reg.VecVirtual {
	u := vector()
	VMULPS(x, x, u)
	VMULPS(num(geluCubic), u, u)
	VADDPS(num(geluIn), u, u)
	VMULPS(x, u, u)
	return sigmoid(u)
}

// siluSlope returns s + x*s*(1-s).
func siluSlope(x, s reg.VecVirtual) reg.VecVirtual {
	t := constant(num(1))
	VSUBPS(s, t, t)
	VMULPS(x, t, t)
	VFMADD213PS(s, s, t)
	return t
}

// clamp bounds x, where what is computed from it no longer changes, so that
// nothing overflows. NaN stays.
func clamp(x reg.VecVirtual, bound float32) {
	t := constant(num(bound))
	VMINPS(x, t, x)
	t = constant(num(-bound))
	VMAXPS(x, t, x)
}

func activations() {
	begin("geluKernel", "dst, x *float32, n int)", "sets dst to GELU of x in the tanh form.")
	each(gps("dst", "x"), gp("n"), 2, func(l lanes) {
		x := l.load(1)
		s := geluGate(x)
		VMULPS(x, s, s)
		l.store(0, s)
	})
	end()

	begin("geluBackKernel", "dst, dy, x *float32, n int)", "sets dst to dy times the slope of GELU at x.")
	each(gps("dst", "dy", "x"), gp("n"), 1, func(l lanes) {
		x := l.load(2)
		clamp(x, 30)
		s := geluGate(x)
		u := vector()
		VMULPS(x, x, u)
		VMULPS(num(3*geluCubic), u, u)
		VADDPS(num(geluIn), u, u)
		VMULPS(x, u, u)
		t := siluSlope(u, s)
		dy := l.load(1)
		VMULPS(t, dy, dy)
		l.store(0, dy)
	})
	end()

	begin("siluKernel", "dst, x *float32, n int)", "sets dst to SiLU of x.")
	each(gps("dst", "x"), gp("n"), 2, func(l lanes) {
		x, u := l.load(1), vector()
		VMOVAPS(x, u)
		s := sigmoid(u)
		VMULPS(x, s, s)
		l.store(0, s)
	})
	end()

	begin("siluBackKernel", "dst, dy, x *float32, n int)", "sets dst to dy times the slope of SiLU at x.")
	each(gps("dst", "dy", "x"), gp("n"), 1, func(l lanes) {
		x, u := l.load(2), vector()
		clamp(x, 200)
		VMOVAPS(x, u)
		s := sigmoid(u)
		t := siluSlope(x, s)
		dy := l.load(1)
		VMULPS(t, dy, dy)
		l.store(0, dy)
	})
	end()

	begin("swigluKernel", "dst, gate, up *float32, n int)", "sets dst = SiLU(gate)*up.")
	each(gps("dst", "gate", "up"), gp("n"), 1, func(l lanes) {
		x, u := l.load(1), vector()
		VMOVAPS(x, u)
		s := sigmoid(u)
		VMULPS(x, s, s)
		up := l.load(2)
		VMULPS(up, s, s)
		l.store(0, s)
	})
	end()

	begin("swigluBackKernel", "dgate, dup, dy, gate, up *float32, n int)", "sets dgate and dup to the gradients of SwiGLU.")
	each(gps("dgate", "dup", "dy", "gate", "up"), gp("n"), 1, func(l lanes) {
		x, u, c := l.load(3), vector(), vector()
		VMOVAPS(x, u)
		VMOVAPS(x, c)
		clamp(c, 200)
		s := sigmoid(u)
		t := siluSlope(c, s)
		dy, up := l.load(2), l.load(4)
		VMULPS(x, s, s)
		VMULPS(dy, s, s)
		VMULPS(up, dy, dy)
		VMULPS(t, dy, dy)
		l.store(0, dy)
		l.store(1, s)
	})
	end()
}
