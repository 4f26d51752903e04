package world

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/proctor-rl/proctor/envs/react/answer"
)

// Form is a form of question.
type Form string

// The forms.
const (
	Chain      Form = "chain"      // follow relations, then read a number or a name
	Arithmetic Form = "arithmetic" // read two numbers, compute a third
	Comparison Form = "comparison" // which of two has more
	Count      Form = "count"      // how many of a country's towns are larger
)

// Step is one page to read on the way to an answer.
type Step struct {
	Page   string // its title
	Key    string // what is wanted there: the name of a relation or attribute
	Value  string // what stands there
	Number bool   // Value is a number
	Hidden bool   // only a lookup of Key shows it
}

// Plan is one way to answer a question.
type Plan struct {
	Chains [][]Step // each ends with a value that counts
	Op     string   // arithmetic: difference, sum or product
	Limit  int      // count: the number to exceed
	Answer string   // what the values come to, where the form alone does not say
}

// Question is a question with its answer.
type Question struct {
	Text  string
	Gold  answer.Gold
	Form  Form
	Hops  int // pages to read
	Slice Slice
	Plan  Plan
}

// Mix says how often each shape of question is asked: relative weights. A
// slice that cannot have a shape ignores its weight.
type Mix struct {
	Hop1, Hop2, Hop3   int // chains by pages
	Arith2, Arith3     int // arithmetic over 2 and 3 pages
	Comparison2, Count int
}

// Ask draws a question about w. The slice decides whether it holds a
// composition that training never sees.
func (w *World) Ask(mix Mix, slice Slice, rng *rand.Rand) Question {
	weights := []int{mix.Hop1, mix.Hop2, mix.Hop3, mix.Arith2, mix.Arith3, mix.Comparison2, mix.Count}
	if slice == Unseen {
		weights[0], weights[5], weights[6] = 0, 0, 0
	}
	total := 0
	for _, n := range weights {
		total += n
	}
	if total == 0 {
		panic("world: mix has no question of this slice")
	}
	pick, shape := rng.IntN(total), 0
	for pick >= weights[shape] {
		pick -= weights[shape]
		shape++
	}
	switch shape {
	case 0, 1, 2:
		c := w.chain(shape+1, slice, true, rng)
		return Question{
			Text: c.question(), Gold: c.gold(), Form: Chain, Hops: shape + 1, Slice: slice,
			Plan: Plan{Chains: [][]Step{c.steps}},
		}
	case 3, 4:
		return w.arithmetic(shape-1, slice, rng)
	case 5:
		return w.comparison(rng)
	}
	return w.count(rng)
}

// chain is a path through the world and what stands at its end.
type chain struct {
	start string
	path  []string // relations, then the attribute if number
	attr  attribute
	value int // if number
	steps []Step
	last  Kind // kind of the named entity if not number
}

func (c chain) number() bool { return c.steps[len(c.steps)-1].Number }
func (c chain) end() Step    { return c.steps[len(c.steps)-1] }
func (c chain) key() string  { return strings.Join(c.path, ".") }

// phrase is "age of the mayor of the capital of Dumi".
func (c chain) phrase() string {
	words := slices.Clone(c.path)
	slices.Reverse(words)
	return strings.Join(words, " of the ") + " of " + c.start
}

func (c chain) question() string {
	if !c.number() && c.last == Person {
		return "Who is the " + c.phrase() + "?"
	}
	return "What is the " + c.phrase() + "?"
}

func (c chain) gold() answer.Gold {
	if c.number() {
		return answer.Int(int64(c.value))
	}
	return answer.Text(c.end().Value)
}

// chain draws a path over pages pages: of the slice, and ending in a number
// unless names is set.
func (w *World) chain(pages int, slice Slice, names bool, rng *rand.Rand) chain {
	for {
		c := w.walk(pages, names && rng.IntN(5) == 0, rng)
		if len(c.steps) == pages && w.sliceOf(c) == slice {
			return c
		}
	}
}

// walk draws any path; it is shorter than asked for if it gets stuck.
func (w *World) walk(pages int, name bool, rng *rand.Rand) chain {
	k := Kind(rng.IntN(int(kinds)))
	e := &w.entities[w.byKind[k][rng.IntN(len(w.byKind[k]))]]
	c := chain{start: e.name}
	for i := range pages {
		spec := schema[e.kind]
		if i == pages-1 && !name {
			j := rng.IntN(len(spec.attributes))
			c.attr, c.value = spec.attributes[j], e.numbers[j]
			c.path = append(c.path, c.attr.name)
			c.steps = append(c.steps, Step{e.name, c.attr.name, strconv.Itoa(c.value), true, c.attr.hidden})
			break
		}
		j := e.relation(rng)
		if j == none {
			break
		}
		to := &w.entities[e.targets[j]]
		c.path = append(c.path, spec.relations[j].name)
		c.steps = append(c.steps, Step{Page: e.name, Key: spec.relations[j].name, Value: to.name})
		c.last, e = to.kind, to
	}
	return c
}

// relation draws one of those that e's page tells of, none where it tells of
// none.
func (e *entity) relation(rng *rand.Rand) int {
	n := 0
	for _, t := range e.targets {
		if t != none {
			n++
		}
	}
	if n == 0 {
		return none
	}
	n = rng.IntN(n)
	for j, t := range e.targets {
		if t == none {
			continue
		}
		if n == 0 {
			return j
		}
		n--
	}
	return none
}

// sliceOf is Seen for a path that training uses, Unseen for one kept for the
// world's own split, and empty for one kept for another split.
func (w *World) sliceOf(c chain) Slice {
	slice := Seen
	for pool, held := range heldPaths {
		for _, h := range held {
			if !strings.Contains("."+c.key()+".", "."+h+".") {
				continue
			}
			if pool != w.cfg.Pool {
				return ""
			}
			slice = Unseen
		}
	}
	return slice
}

func (w *World) opSlice(op, attr string) Slice {
	for pool, held := range heldOps {
		if slices.Contains(held, opAttr{op, attr}) {
			if pool != w.cfg.Pool {
				return ""
			}
			return Unseen
		}
	}
	return Seen
}

var ops = []string{"difference", "sum", "product"}

// arithmetic draws a computation on two numbers, the first at the end of a
// chain over pages-1 pages.
func (w *World) arithmetic(pages int, slice Slice, rng *rand.Rand) Question {
	for {
		op := ops[rng.IntN(len(ops))]
		deep := Seen
		if slice == Unseen && pages > 2 && rng.IntN(2) == 0 {
			deep = Unseen
		}
		a, b := w.chain(pages-1, deep, false, rng), w.chain(1, Seen, false, rng)
		if op != "product" && a.attr != b.attr {
			continue
		}
		if a.end().Page == b.end().Page {
			continue
		}
		of := w.opSlice(op, a.attr.name)
		if of == "" || (deep == Seen && of != slice) {
			continue
		}
		if rng.IntN(2) == 0 {
			a, b = b, a
		}
		if op == "difference" && a.value < b.value {
			a, b = b, a
		}
		q := Question{
			Form: Arithmetic, Hops: pages, Slice: slice,
			Plan: Plan{Chains: [][]Step{a.steps, b.steps}, Op: op},
		}
		v := 0
		switch op {
		case "difference":
			q.Text = fmt.Sprintf("How much more is the %s than the %s?", a.phrase(), b.phrase())
			v = a.value - b.value
		case "sum":
			q.Text = fmt.Sprintf("What is the sum of the %s and the %s?", a.phrase(), b.phrase())
			v = a.value + b.value
		case "product":
			q.Text = fmt.Sprintf("What is the product of the %s and the %s?", a.phrase(), b.phrase())
			v = a.value * b.value
		}
		q.Gold = answer.Int(int64(v))
		return q
	}
}

func (w *World) comparison(rng *rand.Rand) Question {
	for {
		a, b := w.chain(1, Seen, false, rng), w.chain(1, Seen, false, rng)
		if a.attr != b.attr || a.value == b.value {
			continue
		}
		better := a
		if b.value > a.value {
			better = b
		}
		kind := w.kindOf(a.start)
		return Question{
			Text: fmt.Sprintf("Which %s is %s, %s or %s?", kind, a.attr.more, a.start, b.start),
			Gold: answer.Text(better.start), Form: Comparison, Hops: 2, Slice: Seen,
			Plan: Plan{Chains: [][]Step{a.steps, b.steps}},
		}
	}
}

func (w *World) kindOf(name string) Kind {
	for i := range w.entities {
		if w.entities[i].name == name {
			return w.entities[i].kind
		}
	}
	panic("world: no such entity")
}

// count asks how many towns of a country exceed a population. The limit lies
// strictly between two of the populations or outside them.
func (w *World) count(rng *rand.Rand) Question {
	c := &w.entities[w.byKind[Country][rng.IntN(len(w.byKind[Country]))]]
	at := w.entities[c.towns[rng.IntN(len(c.towns))]].numbers[0]
	limit := max(1, (at+rng.IntN(2*at+1))/2)
	q := Question{
		Text: fmt.Sprintf("How many towns of %s have a population of more than %d?", c.name, limit),
		Form: Count, Hops: 1 + len(c.towns), Slice: Seen, Plan: Plan{Limit: limit},
	}
	n := 0
	for _, i := range c.towns {
		t := &w.entities[i]
		if t.numbers[0] > limit {
			n++
		}
		steps := []Step{{t.name, "population", strconv.Itoa(t.numbers[0]), true, true}}
		if len(q.Plan.Chains) == 0 {
			steps = append([]Step{{Page: c.name, Key: "towns", Value: t.name}}, steps...)
		}
		q.Plan.Chains = append(q.Plan.Chains, steps)
	}
	q.Gold = answer.Int(int64(n))
	return q
}
