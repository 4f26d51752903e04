package grammar

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// A part of a specification: how it is said and how it is coded. K and C in a
// text stand for the task's constants, X for the name of the element.
type part struct {
	say  string
	expr func(k, c int64) *node
}

var (
	x = name("x")
	r = name("r")
)

type aggregate struct {
	say   string
	start *node
	op    string
	with  func(e *node) *node
}

func itself(e *node) *node { return e }

var aggregates = []aggregate{
	{"sum", num(0), "+=", itself},
	{"product", num(1), "*=", itself},
	{"count", num(0), "+=", func(*node) *node { return num(1) }},
	{"largest", num(-99), "=", func(e *node) *node { return apply("max", r.clone(), e) }},
	{"smallest", num(99), "=", func(e *node) *node { return apply("min", r.clone(), e) }},
	{"last", num(0), "=", itself},
	{"list", apply("[]"), "append", itself},
	{"alternating sum", num(0), "=", func(e *node) *node { return apply("-", e, r.clone()) }},
}

func infix(op string) func(k, c int64) *node {
	return func(k, _ int64) *node { return apply(op, x.clone(), num(k)) }
}

var filters = []part{
	{"", nil},
	{"X > K", infix(">")},
	{"X < K", infix("<")},
	{"X >= K", infix(">=")},
	{"X <= K", infix("<=")},
	{"X is not K", infix("!=")},
	{"X is even", func(_, _ int64) *node { return apply("==", apply("%", x.clone(), num(2)), num(0)) }},
	{"X is odd", func(_, _ int64) *node { return apply("==", apply("%", x.clone(), num(2)), num(1)) }},
	{"X divides by 3", func(_, _ int64) *node { return apply("==", apply("%", x.clone(), num(3)), num(0)) }},
	{"X is positive", func(_, _ int64) *node { return apply(">", x.clone(), num(0)) }},
	{"X is negative", func(_, _ int64) *node { return apply("<", x.clone(), num(0)) }},
	{"X > -K", func(k, _ int64) *node { return apply(">", x.clone(), num(-k)) }},
	{"abs X < K", func(k, _ int64) *node { return apply("<", apply("abs", x.clone()), num(k)) }},
	{"X > 0 and X < K", func(k, _ int64) *node {
		return apply("and", apply(">", x.clone(), num(0)), apply("<", x.clone(), num(k)))
	}},
}

var maps = []part{
	{"X", func(_, _ int64) *node { return x.clone() }},
	{"X plus C", func(_, c int64) *node { return apply("+", x.clone(), num(c)) }},
	{"X minus C", func(_, c int64) *node { return apply("-", x.clone(), num(c)) }},
	{"C minus X", func(_, c int64) *node { return apply("-", num(c), x.clone()) }},
	{"X times C", func(_, c int64) *node { return apply("*", x.clone(), num(c)) }},
	{"X squared", func(_, _ int64) *node { return apply("*", x.clone(), x.clone()) }},
	{"minus X", func(_, _ int64) *node { return apply("neg", x.clone()) }},
	{"abs X", func(_, _ int64) *node { return apply("abs", x.clone()) }},
	{"X mod C", func(_, c int64) *node { return apply("%", x.clone(), num(c)) }},
	{"X over C", func(_, c int64) *node { return apply("//", x.clone(), num(c)) }},
}

var slicings = []struct{ say, code string }{
	{"", ""},
	{", but the first", "[1:]"},
	{", but the last", "[:-1]"},
	{", of the first 3", "[:3]"},
	{", every second", "[::2]"},
	{", backwards", "[::-1]"},
}

var schemes = []vars{
	{"xs", "x", "r"},
	{"nums", "n", "total"},
	{"values", "v", "out"},
	{"items", "it", "res"},
	{"data", "d", "acc"},
	{"row", "e", "s"},
	{"seq", "q", "ans"},
}

const count = 2 // index in aggregates of the one that ignores the map

// spec is a choice of parts.
type spec struct{ agg, filter, mapping, slice int }

// specs lists all specifications in a fixed order.
func specs() []spec {
	var out []spec
	for a := range aggregates {
		for f := range filters {
			for m := range maps {
				for s := range slicings {
					if a == count && m != 0 {
						continue
					}
					out = append(out, spec{a, f, m, s})
				}
			}
		}
	}
	return out
}

// Which split a specification is kept for.
const (
	keptTrain = iota
	keptValidation
	keptTest
)

func (s spec) kept() int {
	h := fnv.New64a()
	fmt.Fprintf(h, "codefix-grammar/1 %d %d %d %d", s.agg, s.filter, s.mapping, s.slice)
	switch v := h.Sum64() >> 20 % 20; {
	case v < 4:
		return keptTest
	case v == 4:
		return keptValidation
	}
	return keptTrain
}

// program is a specification with names and constants.
func (s spec) program(v vars, k, c int64) *prog {
	a := aggregates[s.agg]
	p := &prog{vars: v, start: a.start.clone(), slice: slicings[s.slice].code, upOp: a.op, ret: r.clone()}
	if f := filters[s.filter].expr; f != nil {
		p.cond = f(k, c)
	}
	p.update = a.with(maps[s.mapping].expr(k, c))
	return p
}

// say is the statement of a specification.
func (s spec) say(v vars, k, c int64) string {
	t := aggregates[s.agg].say + " of " + maps[s.mapping].say
	if f := filters[s.filter].say; f != "" {
		t += " where " + f
	}
	t += slicings[s.slice].say
	return strings.NewReplacer("X", v.x, "K", fmt.Sprint(k), "C", fmt.Sprint(c)).Replace(t)
}

func constant(rng *rand.Rand) int64 { return 2 + rng.Int64N(8) }
