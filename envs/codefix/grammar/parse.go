package grammar

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// parse reads a function of the grammar. It accepts only what prog.text would
// write, byte for byte, and no program that Python reads in another way than
// the interpreter: a chain of comparisons, a variable used before it is set.
func parse(text string) (*prog, bool) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 5 || len(lines) > 6 {
		return nil, false
	}
	p := &prog{}
	ok := p.names(lines[0], lines[1], lines[2]) && p.head(lines[1], lines[2])
	rest := lines[3:]
	if ok && len(rest) == 3 {
		cond, found := between(rest[0], "        if ", ":")
		p.cond, ok = p.expression(cond)
		ok, rest = ok && found, rest[1:]
	}
	if !ok || !p.body(rest[0]) {
		return nil, false
	}
	ret, found := strings.CutPrefix(rest[1], "    return ")
	if p.ret, ok = p.expression(ret); !ok || !found || p.text() != text {
		return nil, false
	}
	return p, true
}

// names finds the naming scheme. Other names could be those of built-ins.
func (p *prog) names(def, start, loop string) bool {
	xs, _ := between(def, "def f(", "):")
	r, _, _ := strings.Cut(strings.TrimSpace(start), " ")
	x, _, _ := strings.Cut(strings.TrimPrefix(loop, "    for "), " ")
	p.vars = vars{xs, x, r}
	return slices.Contains(schemes, p.vars)
}

func (p *prog) head(start, loop string) bool {
	s, ok := strings.CutPrefix(start, "    "+p.vars.r+" = ")
	if !ok {
		return false
	}
	if p.start, ok = p.expression(s); !ok || p.start.uses("x") || p.start.uses("r") {
		return false
	}
	p.slice, ok = between(loop, "    for "+p.vars.x+" in "+p.vars.xs, ":")
	return ok && slices.Contains(knownSlices, p.slice)
}

// knownSlices are those that cut understands.
var knownSlices = []string{"", "[1:]", "[1::2]", "[2:]", "[::-1]", "[::2]", "[:-1]", "[:-2]", "[:2]", "[:3]", "[:4]"}

func (p *prog) body(line string) bool {
	line = strings.TrimLeft(line, " ")
	var ok bool
	if arg, is := between(line, p.vars.r+".append(", ")"); is {
		p.upOp = "append"
		p.update, ok = p.expression(arg)
		return ok
	}
	name, rest, _ := strings.Cut(line, " ")
	op, value, _ := strings.Cut(rest, " ")
	if name != p.vars.r || op != "=" && op != "+=" && op != "-=" && op != "*=" {
		return false
	}
	p.upOp = op
	p.update, ok = p.expression(value)
	return ok
}

func between(s, before, after string) (string, bool) {
	s, a := strings.CutPrefix(s, before)
	s, b := strings.CutSuffix(s, after)
	return s, a && b
}

// uses says whether a variable occurs in e.
func (e *node) uses(op string) bool {
	return e.op == op || slices.ContainsFunc(e.kids, func(k *node) bool { return k.uses(op) })
}

var lexeme = regexp.MustCompile(`[A-Za-z]+|[0-9]+|//|[<>=!]=|[-+*%<>()\[\],]`)

// reader parses an expression by precedence, as Python's grammar has it.
type reader struct {
	vars   vars
	tokens []string
	bad    bool
}

func (p *prog) expression(s string) (*node, bool) {
	rd := &reader{vars: p.vars, tokens: lexeme.FindAllString(s, -1)}
	e := rd.binary(1)
	return e, !rd.bad && len(rd.tokens) == 0
}

func (rd *reader) peek() string {
	if len(rd.tokens) == 0 {
		return ""
	}
	return rd.tokens[0]
}

func (rd *reader) take(want string) bool {
	if rd.peek() != want || want == "" {
		return false
	}
	rd.tokens = rd.tokens[1:]
	return true
}

// binary reads operators of a precedence and above.
func (rd *reader) binary(prec int) *node {
	if prec == 2 {
		if rd.take("not") {
			return apply("not", rd.binary(2))
		}
		return rd.binary(3)
	}
	if prec > 5 {
		return rd.unary()
	}
	left := rd.binary(prec + 1)
	for n := 0; rd.peek() != "not" && precedence[rd.peek()] == prec; n++ {
		op := rd.peek()
		rd.tokens = rd.tokens[1:]
		left = apply(op, left, rd.binary(prec+1))
		if rd.bad = rd.bad || prec == 3 && n > 0; rd.bad {
			break // Python chains comparisons
		}
	}
	return left
}

func (rd *reader) unary() *node {
	if !rd.take("-") {
		return rd.atom()
	}
	e := rd.unary()
	if e.op == "int" && e.n > 0 {
		return num(-e.n)
	}
	return apply("neg", e)
}

func (rd *reader) atom() *node {
	t := rd.peek()
	if t == "" {
		rd.bad = true
		return num(0)
	}
	rd.tokens = rd.tokens[1:]
	switch t {
	case rd.vars.x:
		return name("x")
	case rd.vars.r:
		return name("r")
	case rd.vars.xs:
		return name("xs")
	case "(":
		e := rd.binary(1)
		rd.bad = rd.bad || !rd.take(")")
		return e
	case "[":
		rd.bad = rd.bad || !rd.take("]")
		return apply("[]")
	case "abs", "max", "min":
		rd.bad = rd.bad || !rd.take("(")
		e := apply(t, rd.binary(1))
		if t != "abs" {
			rd.bad = rd.bad || !rd.take(",")
			e.kids = append(e.kids, rd.binary(1))
		}
		rd.bad = rd.bad || !rd.take(")")
		return e
	}
	n, err := strconv.ParseInt(t, 10, 32)
	rd.bad = rd.bad || err != nil
	return num(n)
}
