package fastblas

import "github.com/proctor-rl/proctor/trainer/fastblas/vec"

// Panic texts for wrong shapes: mistakes of the program, not of its data.
const (
	negativeSize = "fastblas: negative size"
	badA         = "fastblas: a is too short or its rows overlap"
	badB         = "fastblas: b is too short or its rows overlap"
	badC         = "fastblas: c is too short or its rows overlap"
	badOut       = "fastblas: Epilogue.Out is too short or its rows overlap"
	badBias      = "fastblas: the bias has not one element per column"
	biasAndAdd   = "fastblas: Epilogue has both Accumulate and Bias"
)

// Activation is a function applied to every element of a product.
type Activation uint8

// The activations.
const (
	None Activation = iota
	GELU            // the tanh form
	SiLU            // x times the logistic function of x
)

// Epilogue says what happens to a product on its way into c. The zero value
// overwrites c.
type Epilogue struct {
	Accumulate bool       // add to c instead of overwriting it
	Bias       []float32  // added to every row where not nil; not with Accumulate
	Act        Activation // applied last
	// Out takes the activated values and c keeps what goes into the
	// activation, which a backward pass needs; nil activates c in place. Its
	// rows are LdOut apart.
	Out   []float32
	LdOut int
}

// Gemm computes c = alpha*op(a)*op(b) and what ep asks for. op(a) is m by k
// and op(b) is k by n; with transA, a is stored k by m, with transB, b is
// stored n by k. Rows of a, b and c are lda, ldb and ldc apart. c must not
// overlap a or b. ws may be nil.
//
// The gradient of weights is Gemm(dw, ld, true, dy, lddy, false, x, ldx, ...)
// with Accumulate.
func Gemm(c []float32, ldc int, transA bool, a []float32, lda int, transB bool, b []float32, ldb, m, n, k int, alpha float32, ep Epilogue, ws *Workspace) {
	if transA {
		checkMatrix(k, m, a, lda, badA)
	} else {
		checkMatrix(m, k, a, lda, badA)
	}
	if transB {
		checkMatrix(n, k, b, ldb, badB)
	} else {
		checkMatrix(k, n, b, ldb, badB)
	}
	g := product{m: m, n: n, k: k, alpha: alpha, rsA: lda, csA: 1, ldb: ldb, transB: transB, ws: ws}
	if transA {
		g.rsA, g.csA = 1, lda
	}
	if m*k > 0 {
		g.a = &a[0]
	}
	if n*k > 0 {
		g.b = &b[0]
	}
	g.finish(c, ldc, &ep)
}

// GemmPacked computes c = a*b and what ep asks for, where a is m by b.Rows()
// with rows lda apart and rows of c are ldc apart. c must not overlap a. ws
// may be nil.
func GemmPacked(c []float32, ldc int, a []float32, lda int, b *Packed, m int, ep Epilogue, ws *Workspace) {
	checkMatrix(m, b.k, a, lda, badA)
	g := product{m: m, n: b.n, k: b.k, alpha: 1, rsA: lda, csA: 1, packed: b, ws: ws}
	if m*b.k > 0 {
		g.a = &a[0]
	}
	g.finish(c, ldc, &ep)
}

// finish checks and sets what has to do with c and runs the product.
func (g *product) finish(c []float32, ldc int, ep *Epilogue) {
	checkMatrix(g.m, g.n, c, ldc, badC)
	if ep.Bias != nil {
		if ep.Accumulate {
			panic(biasAndAdd)
		}
		if len(ep.Bias) != g.n {
			panic(badBias)
		}
	}
	if g.m == 0 || g.n == 0 {
		return
	}
	g.c, g.ldc = &c[0], ldc
	switch {
	case ep.Accumulate:
		g.cin, g.ldcin, g.stepcin = g.c, ldc, 1
	case ep.Bias != nil:
		g.cin, g.ldcin, g.stepcin = &ep.Bias[0], 0, 1
	default:
		g.cin, g.ldcin, g.stepcin = &zeros[0], 0, 0
	}
	g.act, g.out, g.ldout = ep.Act, g.c, ldc
	if ep.Act != None && ep.Out != nil {
		checkMatrix(g.m, g.n, ep.Out, ep.LdOut, badOut)
		g.out, g.ldout = &ep.Out[0], ep.LdOut
	}
	if g.k == 0 {
		g.empty()
		return
	}
	if g.ws == nil {
		g.ws = workspaces.Get().(*Workspace) //nolint:errcheck // the pool holds nothing else
		defer workspaces.Put(g.ws)
	}
	g.run()
}

// empty is a product over nothing: c = cin.
func (g *product) empty() {
	for i := range g.m {
		for j := range g.n {
			*at(g.c, i*g.ldc+j) = *at(g.cin, i*g.ldcin+j*g.stepcin)
		}
	}
	if g.act != None {
		g.activate(0, g.m, 0, g.n)
	}
}

// activate applies the activation to a block of c.
func (g *product) activate(i, m, j, n int) {
	for r := i; r < i+m; r++ {
		dst, src := row(g.out, r*g.ldout+j, n), row(g.c, r*g.ldc+j, n)
		switch g.act { //nolint:exhaustive // None changes nothing
		case GELU:
			vec.GELU(dst, src)
		case SiLU:
			vec.SiLU(dst, src)
		}
	}
}

// checkMatrix panics unless x holds a matrix of r rows and c columns.
func checkMatrix(r, c int, x []float32, ld int, text string) {
	if r < 0 || c < 0 {
		panic(negativeSize)
	}
	if r == 0 || c == 0 {
		return
	}
	if ld < c || len(x) < (r-1)*ld+c {
		panic(text)
	}
}
