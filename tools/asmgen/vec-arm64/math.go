package main

// each2 writes an instruction of the Go assembler for both registers.
func (k *kernels) each2(format string, p ...pair) {
	for i := range 2 {
		args := make([]any, len(p))
		for j := range p {
			args[j] = p[j][i]
		}
		k.f.I(format, args...)
	}
}

func three(op func(d, n, m int), d, n, m pair) {
	op(d[0], n[0], m[0])
	op(d[1], n[1], m[1])
}

func two(op func(d, n int), d, n pair) {
	op(d[0], n[0])
	op(d[1], n[1])
}

func (k *kernels) add(d, n, m pair) { three(k.f.Fadd, d, n, m) } // d = n+m
func (k *kernels) sub(d, n, m pair) { three(k.f.Fsub, d, n, m) } // d = n-m
func (k *kernels) mul(d, n, m pair) { three(k.f.Fmul, d, n, m) } // d = n*m
func (k *kernels) div(d, n, m pair) { three(k.f.Fdiv, d, n, m) } // d = n/m
func (k *kernels) neg(d, n pair)    { two(k.f.Fneg, d, n) }      // d = -n

// fma sets d += n*m, rounded once.
func (k *kernels) fma(d, n, m pair) { k.each2("VFMLA V%d.S4, V%d.S4, V%d.S4", m, n, d) }

// fms sets d -= n*m, rounded once.
func (k *kernels) fms(d, n, m pair) { k.each2("VFMLS V%d.S4, V%d.S4, V%d.S4", m, n, d) }

// copied is p in registers of its own.
func (k *kernels) copied(p pair) pair {
	c := k.pair()
	k.each2("VMOV V%d.B16, V%d.B16", p, c)
	return c
}

// minus is -p in registers of its own.
func (k *kernels) minus(p pair) pair {
	c := k.pair()
	k.neg(c, p)
	return c
}

// min sets x to y where y < x, and so leaves a NaN alone.
func (k *kernels) min(x, y pair) { k.choose(x, y, x, y) }

// max sets x to y where y > x, and so leaves a NaN alone.
func (k *kernels) max(x, y pair) { k.choose(x, y, y, x) }

// choose sets x to y where a > b.
func (k *kernels) choose(x, y, a, b pair) {
	m := pair{vMask, vMask + 1}
	three(k.f.Fcmgt, m, a, b)
	k.each2("VBIT V%d.B16, V%d.B16, V%d.B16", m, y, x)
}

// horizontal adds the 8 lanes of y, halves first, then pairs, to its lane 0.
func (k *kernels) horizontal(y pair) int {
	r, t := y[0], y[1]
	k.f.Fadd(r, r, t)
	k.f.I("VMOV V%d.D[1], V%d.D[0]", r, t)
	k.f.Fadd(r, r, t)
	k.f.I("VMOV V%d.S[1], V%d.S[0]", r, t)
	k.f.I("FADDS F%d, F%d, F%d", t, r, r)
	return r
}

// exp replaces x by its exponential, in the steps of command vec.
func (k *kernels) exp(x pair) {
	n, y, t := k.pair(), k.pair(), k.pair()
	k.min(x, k.num(89))
	k.max(x, k.num(-104))
	k.mul(n, x, k.num(1.44269504088896341))
	two(k.f.Frintn, n, n)
	k.fms(x, n, k.num(0.693359375))
	k.fms(x, n, k.num(-2.12194440e-4))
	k.constant(y, 1.9875691500e-4)
	for _, c := range []float32{1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1, 1, 1} {
		k.constant(t, c)
		k.fma(t, y, x)
		y, t = t, y
	}
	// The power of two, in two halves.
	i, j := n, x
	two(k.f.Fcvtns, i, n)
	two(func(d, n int) { k.f.Sshr(d, n, 1) }, j, i)
	k.each2("VSUB V%d.S4, V%d.S4, V%d.S4", j, i, i)
	bias := k.bits(pair{vNum, vNum}, 127)
	for _, p := range []pair{i, j} {
		k.each2("VADD V%d.S4, V%d.S4, V%d.S4", bias, p, p)
		k.each2("VSHL $23, V%d.S4, V%d.S4", p, p)
	}
	k.mul(y, y, i)
	k.mul(x, y, j)
}

// sigmoid replaces x by 1/(1+exp(-x)).
func (k *kernels) sigmoid(x pair) {
	k.neg(x, x)
	k.exp(x)
	one := k.num(1)
	k.add(x, x, one)
	k.div(x, one, x)
}
