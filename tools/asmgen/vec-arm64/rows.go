package main

// logits returns scale*x - shift and the same bounded below: exp is zero well
// before, and a logit of -Inf weighs nothing.
func (k *kernels) logits(x, scale, minusShift pair) (d, bounded pair) {
	d = k.copied(minusShift)
	k.fma(d, x, scale)
	bounded = k.copied(d)
	k.max(bounded, k.num(-200))
	return d, bounded
}

func (k *kernels) softmax() {
	k.begin("expSumKernel", "dst, x *float32, scale, shift float32, n int) float32", "sets dst = exp(scale*x - shift) and returns its sum.", "dst", "x")
	scale, shift := k.spread("scale"), k.minus(k.spread("shift"))
	s := k.sums(2)
	k.each(2, func(l lanes) {
		d := k.copied(shift)
		k.fma(d, l.load(1), scale)
		k.exp(d)
		l.store(0, d)
		l.keep(d)
		k.add(s[l.off], s[l.off], d)
	})
	k.result(k.horizontal(k.fold(s)), "ret")
	k.end()

	k.begin("softmaxBackKernel", "dst, p, dp *float32, dot, scale float32, n int)", "sets dst = scale*p*(dp-dot).", "dst", "p", "dp")
	dot, sc := k.spread("dot"), k.spread("scale")
	k.each(2, func(l lanes) {
		p, dp := l.load(1), l.load(2)
		k.sub(dp, dp, dot)
		k.mul(p, p, sc)
		k.mul(dp, dp, p)
		l.store(0, dp)
	})
	k.end()

	k.begin("expWeightKernel", "x *float32, scale, shift float32, n int) (sum, weighted float32)", "returns the sums of e = exp(d) and of e*d, where d = scale*x - shift.", "x")
	scale, shift = k.spread("scale"), k.minus(k.spread("shift"))
	s, w := k.sums(2), k.sums(2)
	k.each(2, func(l lanes) {
		x, d := k.logits(l.load(0), scale, shift)
		k.exp(x)
		l.keep(x)
		k.add(s[l.off], s[l.off], x)
		k.fma(w[l.off], x, d)
	})
	k.result(k.horizontal(k.fold(s)), "sum")
	k.result(k.horizontal(k.fold(w)), "weighted")
	k.end()

	k.begin("logProbBackKernel", "dz, z *float32, scale, shift, a, b float32, n int)", "sets dz = -scale*p*(a + b*l), where l = scale*z - shift is the log-probability and p = exp(l).", "dz", "z")
	scale, shift = k.spread("scale"), k.minus(k.spread("shift"))
	a, b := k.spread("a"), k.spread("b")
	k.each(1, func(l lanes) {
		x, d := k.logits(l.load(1), scale, shift)
		k.exp(x)
		w := k.copied(a)
		k.fma(w, b, d)
		k.mul(x, x, scale)
		k.neg(x, x)
		k.mul(x, x, w)
		l.store(0, x)
	})
	k.end()
}

func (k *kernels) norms() {
	k.begin("normKernel", "y, x, gain, bias *float32, mean, rstd float32, n int)", "sets y = (x-mean)*rstd*gain + bias.", "y", "x", "gain", "bias")
	mean, rstd := k.spread("mean"), k.spread("rstd")
	k.each(2, func(l lanes) {
		x, g, b := l.load(1), l.load(2), l.load(3)
		k.sub(x, x, mean)
		k.mul(x, x, rstd)
		k.fma(b, x, g)
		l.store(0, b)
	})
	k.end()

	k.begin("rmsKernel", "y, x, gain *float32, rstd float32, n int)", "sets y = x*rstd*gain.", "y", "x", "gain")
	rstd = k.spread("rstd")
	k.each(2, func(l lanes) {
		x, g := l.load(1), l.load(2)
		k.mul(x, x, rstd)
		k.mul(x, x, g)
		l.store(0, x)
	})
	k.end()

	k.begin("normBackSumsKernel", "dgain, dbias, dy, x, gain *float32, mean, rstd float32, n int) (sum, weighted float32)", "adds to the gradients of gain and bias and returns the sums of dy*gain and of dy*gain*h, where h = (x-mean)*rstd.", "dgain", "dbias", "dy", "x", "gain")
	mean, rstd = k.spread("mean"), k.spread("rstd")
	s, w := k.sums(2), k.sums(2)
	k.each(2, func(l lanes) {
		dy, h := l.load(2), l.load(3)
		k.sub(h, h, mean)
		k.mul(h, h, rstd)
		db := l.load(1)
		k.add(db, db, dy)
		l.store(1, db)
		dg := l.load(0)
		k.fma(dg, dy, h)
		l.store(0, dg)
		g := l.load(4)
		k.mul(g, g, dy)
		k.add(s[l.off], s[l.off], g)
		l.keep(h)
		k.fma(w[l.off], g, h)
	})
	k.result(k.horizontal(k.fold(s)), "sum")
	k.result(k.horizontal(k.fold(w)), "weighted")
	k.end()

	k.begin("rmsBackSumsKernel", "dgain, dy, x, gain *float32, rstd float32, n int) float32", "adds to the gradient of gain and returns the sum of dy*gain*h, where h = x*rstd.", "dgain", "dy", "x", "gain")
	rstd = k.spread("rstd")
	w = k.sums(2)
	k.each(2, func(l lanes) {
		dy, h := l.load(1), l.load(2)
		k.mul(h, h, rstd)
		dg := l.load(0)
		k.fma(dg, dy, h)
		l.store(0, dg)
		g := l.load(3)
		k.mul(g, g, dy)
		k.fma(w[l.off], g, h)
	})
	k.result(k.horizontal(k.fold(w)), "ret")
	k.end()

	k.begin("normBackKernel", "dx, dy, x, gain *float32, mean, rstd, c1, c2 float32, n int)", "sets dx += rstd*(dy*gain - c1 - h*c2), where h = (x-mean)*rstd.", "dx", "dy", "x", "gain")
	mean, rstd = k.spread("mean"), k.spread("rstd")
	c1, c2 := k.minus(k.spread("c1")), k.spread("c2")
	k.each(2, func(l lanes) {
		h, g, dy := l.load(2), l.load(3), l.load(1)
		k.sub(h, h, mean)
		k.mul(h, h, rstd)
		t := k.copied(c1)
		k.fma(t, dy, g)
		k.fms(t, h, c2)
		dx := l.load(0)
		k.fma(dx, rstd, t)
		l.store(0, dx)
	})
	k.end()
}

func (k *kernels) optimizer() {
	k.begin("adamwKernel", "p, grad, m, v *float32, gscale, beta1, rest1, beta2, rest2, step, rsqrt2, eps, keep float32, n int)",
		"does one step of AdamW: m = beta1*m + rest1*grad, v = beta2*v + rest2*grad*grad, p = keep*p - step*m/(sqrt(v)*rsqrt2 + eps), with grad scaled by gscale first.", "p", "grad", "m", "v")
	gs, b1, r1, b2, r2 := k.spread("gscale"), k.spread("beta1"), k.spread("rest1"), k.spread("beta2"), k.spread("rest2")
	step, rs, eps, keep := k.spread("step"), k.spread("rsqrt2"), k.spread("eps"), k.spread("keep")
	k.each(1, func(l lanes) {
		g, m, v := l.load(1), l.load(2), l.load(3)
		k.mul(g, g, gs)
		k.mul(m, m, b1)
		k.fma(m, g, r1)
		l.store(2, m)
		k.mul(v, v, b2)
		k.mul(g, g, g)
		k.fma(v, g, r2)
		l.store(3, v)
		two(k.f.Fsqrt, v, v)
		root := k.copied(eps)
		k.fma(root, v, rs)
		k.mul(m, m, step)
		k.div(m, m, root)
		k.neg(m, m)
		k.fma(m, l.load(0), keep)
		l.store(0, m)
	})
	k.end()
}
