package grammar

import (
	"errors"
	"strconv"
	"strings"
)

// node is an expression. Its op is one of "int", "x" (the element), "r" (the
// result so far), "xs" (the argument), "[]" (a list of its kids), "abs",
// "max", "min", "neg", "not", or an infix operator of Python.
type node struct {
	op   string
	n    int64
	kids []*node
}

func num(n int64) *node                    { return &node{op: "int", n: n} }
func name(op string) *node                 { return &node{op: op} }
func apply(op string, kids ...*node) *node { return &node{op: op, kids: kids} }

func (e *node) clone() *node {
	if e == nil {
		return nil
	}
	c := &node{op: e.op, n: e.n}
	for _, k := range e.kids {
		c.kids = append(c.kids, k.clone())
	}
	return c
}

// prog is a function of the grammar:
//
//	def f(xs):
//	    r = start
//	    for x in xs<slice>:
//	        if cond:
//	            <update>
//	    return ret
type prog struct {
	vars   vars
	start  *node
	slice  string // "", "[1:]", "[::-1]", ...
	cond   *node  // nil: no filter
	upOp   string // "+=", "*=", "=", "append"
	update *node
	ret    *node
}

type vars struct{ xs, x, r string }

func (p *prog) clone() *prog {
	c := *p
	c.start, c.cond, c.update, c.ret = p.start.clone(), p.cond.clone(), p.update.clone(), p.ret.clone()
	return &c
}

// lines renders the program.
func (p *prog) lines() []string {
	v := p.vars
	l := []string{
		"def f(" + v.xs + "):",
		"    " + v.r + " = " + p.render(p.start, 0),
		"    for " + v.x + " in " + v.xs + p.slice + ":",
	}
	ind := "        "
	if p.cond != nil {
		l = append(l, ind+"if "+p.render(p.cond, 0)+":")
		ind += "    "
	}
	if p.upOp == "append" {
		l = append(l, ind+v.r+".append("+p.render(p.update, 0)+")")
	} else {
		l = append(l, ind+v.r+" "+p.upOp+" "+p.render(p.update, 0))
	}
	return append(l, "    return "+p.render(p.ret, 0))
}

func (p *prog) text() string { return strings.Join(p.lines(), "\n") + "\n" }

// precedence of Python's operators, as far as the grammar has them.
var precedence = map[string]int{
	"and": 1, "not": 2, "<": 3, "<=": 3, ">": 3, ">=": 3, "==": 3, "!=": 3,
	"+": 4, "-": 4, "*": 5, "//": 5, "%": 5, "neg": 6,
}

func (p *prog) render(e *node, outer int) string {
	var s string
	prec, infix := precedence[e.op]
	switch e.op {
	case "int":
		return strconv.FormatInt(e.n, 10)
	case "x":
		return p.vars.x
	case "r":
		return p.vars.r
	case "xs":
		return p.vars.xs
	case "[]":
		return "[]"
	case "abs", "max", "min", "len":
		var args []string
		for _, k := range e.kids {
			args = append(args, p.render(k, 0))
		}
		return e.op + "(" + strings.Join(args, ", ") + ")"
	case "neg":
		s = "-" + p.render(e.kids[0], prec)
	case "not":
		s = "not " + p.render(e.kids[0], prec)
	default:
		s = p.render(e.kids[0], prec) + " " + e.op + " " + p.render(e.kids[1], prec+1)
	}
	if infix && prec < outer {
		return "(" + s + ")"
	}
	return s
}

// value is an integer, a truth value (kept apart, as its repr differs) or a
// list of integers.
type value struct {
	kind byte // 'i', 'b' or 'l'
	n    int64
	l    []int64
}

var (
	errType    = errors.New("TypeError")
	errZero    = errors.New("ZeroDivisionError")
	errUnbound = errors.New("UnboundLocalError")
	// errOther is what this interpreter leaves to Python: a list repeated,
	// joined or within itself. No answer of a repaired function.
	errOther = errors.New("other")
	errSize  = errors.New("too large")
)

// maxMagnitude is such that a product of two still fits.
const maxMagnitude = 3_000_000_000

func integer(n int64) (value, error) {
	if n > maxMagnitude || n < -maxMagnitude {
		return value{}, errSize
	}
	return value{kind: 'i', n: n}, nil
}

func truth(b bool) value {
	if b {
		return value{kind: 'b', n: 1}
	}
	return value{kind: 'b'}
}

func (v value) true() bool {
	if v.kind == 'l' {
		return len(v.l) > 0
	}
	return v.n != 0
}

// run is f(xs), or the exception that Python would raise.
func (p *prog) run(xs []int64) (value, error) {
	fr := &frame{xs: xs}
	r, err := fr.eval(p.start)
	if err != nil {
		return value{}, err
	}
	fr.r = r
	for _, x := range cut(xs, p.slice) {
		fr.x = value{kind: 'i', n: x}
		if p.cond != nil {
			c, err := fr.eval(p.cond)
			if err != nil {
				return value{}, err
			}
			if !c.true() {
				continue
			}
		}
		u, err := fr.eval(p.update)
		if err != nil {
			return value{}, err
		}
		switch p.upOp {
		case "=":
			fr.r = u
		case "append":
			if fr.r.kind != 'l' || u.kind != 'i' {
				return value{}, errOther // an AttributeError, or a list within a list
			}
			fr.r = value{kind: 'l', l: append(append([]int64(nil), fr.r.l...), u.n)}
		default:
			if fr.r, err = arith(strings.TrimSuffix(p.upOp, "="), fr.r, u); err != nil {
				return value{}, err
			}
		}
	}
	return fr.eval(p.ret)
}

// largestAnswer bounds what a repaired function may answer to a case: long
// numbers say no more than short ones.
const largestAnswer = 1_000_000

// answer is run for a repaired function; ok is false where the input makes no
// case.
func (p *prog) answer(xs []int64) (v value, ok bool) {
	v, err := p.run(xs)
	if err != nil {
		return v, false
	}
	for _, n := range append([]int64{v.n}, v.l...) {
		if n > largestAnswer || n < -largestAnswer {
			return v, false
		}
	}
	return v, true
}

type frame struct {
	xs   []int64
	x, r value
}

func (fr *frame) eval(e *node) (value, error) {
	switch e.op {
	case "int":
		return integer(e.n)
	case "x":
		if fr.x.kind == 0 {
			return value{}, errUnbound // the loop did not run
		}
		return fr.x, nil
	case "r":
		return fr.r, nil
	case "xs":
		return value{kind: 'l', l: fr.xs}, nil
	case "[]":
		return value{kind: 'l'}, nil
	}
	args := make([]value, len(e.kids))
	for i, k := range e.kids {
		v, err := fr.eval(k)
		if err != nil {
			return value{}, err
		}
		if e.op == "and" && i == 0 && !v.true() {
			return v, nil
		}
		args[i] = v
	}
	a := args[0]
	switch e.op {
	case "and":
		return args[1], nil
	case "not":
		return truth(!a.true()), nil
	case "abs", "neg":
		if a.kind == 'l' {
			return value{}, errType
		}
		if e.op == "neg" || a.n < 0 {
			return integer(-a.n)
		}
		return integer(a.n)
	case "max", "min":
		b := args[1]
		if a.kind == 'l' || b.kind == 'l' {
			return value{}, mixed(a, b)
		}
		if e.op == "max" && b.n > a.n || e.op == "min" && b.n < a.n {
			return b, nil
		}
		return a, nil
	}
	return arith(e.op, a, args[1])
}

// mixed is what two operands, of which one is a list, come to where an order
// is asked for.
func mixed(a, b value) error {
	if a.kind == b.kind {
		return errOther
	}
	return errType
}

// arith is a binary operator of Python on integers. Lists meet one only where
// a mutation put them there, and mostly raise.
func arith(op string, a, b value) (value, error) {
	if a.kind == 'l' || b.kind == 'l' {
		switch {
		case a.kind == b.kind, op == "*":
			return value{}, errOther
		case op == "==":
			return truth(false), nil
		case op == "!=":
			return truth(true), nil
		}
		return value{}, errType
	}
	switch op {
	case "+":
		return integer(a.n + b.n)
	case "-":
		return integer(a.n - b.n)
	case "*":
		return integer(a.n * b.n)
	case "//", "%":
		if b.n == 0 {
			return value{}, errZero
		}
		q, m := a.n/b.n, a.n%b.n
		if m != 0 && (m < 0) != (b.n < 0) {
			q, m = q-1, m+b.n
		}
		if op == "%" {
			return integer(m)
		}
		return integer(q)
	case "<":
		return truth(a.n < b.n), nil
	case "<=":
		return truth(a.n <= b.n), nil
	case ">":
		return truth(a.n > b.n), nil
	case ">=":
		return truth(a.n >= b.n), nil
	case "==":
		return truth(a.n == b.n), nil
	case "!=":
		return truth(a.n != b.n), nil
	}
	return value{}, errOther
}

// slices that a loop may run over.
func cut(xs []int64, slice string) []int64 {
	n := len(xs)
	switch slice {
	case "[1:]":
		return xs[min(1, n):]
	case "[2:]":
		return xs[min(2, n):]
	case "[:-1]":
		return xs[:max(n-1, 0)]
	case "[:-2]":
		return xs[:max(n-2, 0)]
	case "[:3]":
		return xs[:min(3, n)]
	case "[:2]":
		return xs[:min(2, n)]
	case "[:4]":
		return xs[:min(4, n)]
	case "[::2]", "[1::2]":
		var out []int64
		for i := len(slice) - 5; i < n; i += 2 {
			out = append(out, xs[i])
		}
		return out
	case "[::-1]":
		out := make([]int64, n)
		for i, x := range xs {
			out[n-1-i] = x
		}
		return out
	}
	return xs
}
