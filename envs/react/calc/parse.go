package calc

import (
	"errors"
	"fmt"
	"math/big"
)

// maxDepth bounds nesting: brackets, signs in a row, powers of powers.
const maxDepth = 64

// Eval computes an expression. The error says in a few words what is wrong
// with it; it never quotes more than a character or a short word of it.
func Eval(expression string) (Value, error) {
	toks, err := lex(expression)
	if err != nil {
		return Value{}, err
	}
	p := parser{toks: toks}
	if p.peek().kind == tokEnd {
		return Value{}, errors.New("the expression is empty, expected a number")
	}
	v, err := p.sum()
	if err != nil {
		return Value{}, err
	}
	if t := p.peek(); t.kind != tokEnd {
		return Value{}, unexpected(t)
	}
	return v, nil
}

// parser evaluates while it reads; the grammar is small enough that a tree
// would only be walked once.
//
//	sum     = product { ("+" | "-") product }
//	product = unary { ("*" | "/" | "//" | "%" | bracket) unary }
//	unary   = ("+" | "-") unary | power
//	power   = atom [ ("**" | "^") unary ]
//	atom    = number | name "(" sum { "," sum } ")" | "(" sum ")", then any "%"
type parser struct {
	toks  []token
	depth int
}

func (p *parser) peek() token { return p.toks[0] }

func (p *parser) next() token {
	t := p.toks[0]
	if t.kind != tokEnd {
		p.toks = p.toks[1:]
	}
	return t
}

// is reports whether the next token is one of ops.
func (p *parser) is(ops ...string) bool {
	t := p.peek()
	if t.kind != tokOp {
		return false
	}
	for _, op := range ops {
		if t.text == op {
			return true
		}
	}
	return false
}

func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return fmt.Errorf("the expression is nested too deep, the limit is %d", maxDepth)
	}
	return nil
}

func unexpected(t token) error {
	text := t.text
	if len(text) > 12 {
		text = text[:12] + "..."
	}
	return fmt.Errorf("unexpected %s", text)
}

func (p *parser) sum() (Value, error) {
	v, err := p.product()
	for err == nil && p.is("+", "-") {
		op := p.next().text
		var w Value
		if w, err = p.product(); err == nil {
			v, err = binary(op, v, w)
		}
	}
	return v, err
}

func (p *parser) product() (Value, error) {
	v, plain, err := p.unary()
	divided := false
	for err == nil {
		var op string
		switch {
		case p.is("*", "/", "//", "%"):
			op = p.next().text
			divided = op != "*"
		case p.is("("):
			// 2(3+4) is a product, but people disagree whether it binds
			// tighter than the division or power in front of it.
			if divided || !plain {
				return Value{}, errors.New("ambiguous product, expected an operator before (")
			}
			op = "*"
		default:
			return v, nil
		}
		var w Value
		if w, plain, err = p.unary(); err == nil {
			v, err = binary(op, v, w)
		}
	}
	return v, err
}

// unary also reports whether what it read may be followed by a bracket: a
// number or a bracket, signed or not.
func (p *parser) unary() (v Value, plain bool, err error) {
	if !p.is("+", "-") {
		return p.power()
	}
	if err := p.enter(); err != nil {
		return Value{}, false, err
	}
	op := p.next().text
	v, plain, err = p.unary()
	p.depth--
	if err == nil && op == "-" {
		v = v.neg()
	}
	return v, plain, err
}

func (p *parser) power() (v Value, plain bool, err error) {
	v, err = p.atom()
	if err != nil || !p.is("**", "^") {
		return v, true, err
	}
	p.next()
	if err := p.enter(); err != nil {
		return Value{}, false, err
	}
	w, _, err := p.unary()
	p.depth--
	if err != nil {
		return Value{}, false, err
	}
	v, err = binary("**", v, w)
	return v, false, err
}

func (p *parser) atom() (Value, error) {
	v, err := p.primary()
	for err == nil && p.is("%") && p.percent() {
		p.next()
		v, err = binary("/", v, Value{i: big.NewInt(100)})
	}
	return v, err
}

// percent reports whether the "%" ahead is "per cent" and not "modulo": when
// nothing follows it that could be divided by.
func (p *parser) percent() bool {
	t := p.toks[1]
	if t.kind != tokOp {
		return t.kind == tokEnd
	}
	switch t.text {
	case ")", ",", "*", "/", "//", "%", "^", "**":
		return true
	default:
		return false
	}
}

func (p *parser) primary() (Value, error) {
	t := p.next()
	switch {
	case t.kind == tokNumber:
		return t.val, nil
	case t.kind == tokName:
		return p.function(t)
	case t.kind == tokOp && t.text == "(":
		if err := p.enter(); err != nil {
			return Value{}, err
		}
		v, err := p.sum()
		if err != nil {
			return Value{}, err
		}
		p.depth--
		return v, p.close()
	}
	return Value{}, unexpected(t)
}

func (p *parser) function(name token) (Value, error) {
	if _, ok := arity[name.text]; !ok || !p.is("(") {
		return Value{}, fmt.Errorf("unknown name, %w", unexpected(name))
	}
	if err := p.enter(); err != nil {
		return Value{}, err
	}
	p.next()
	var args []Value
	for {
		v, err := p.sum()
		if err != nil {
			return Value{}, err
		}
		args = append(args, v)
		if !p.is(",") {
			break
		}
		p.next()
	}
	if err := p.close(); err != nil {
		return Value{}, err
	}
	p.depth--
	return call(name.text, args)
}

func (p *parser) close() error {
	if !p.is(")") {
		return fmt.Errorf("expected ), %w", unexpected(p.peek()))
	}
	p.next()
	return nil
}
