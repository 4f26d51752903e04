package sandbox

import (
	"math"
	"slices"
	"testing"

	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

func list(n ...int64) pyval.Value {
	v := pyval.ListOf()
	for _, i := range n {
		v.Items = append(v.Items, pyval.IntOf(i))
	}
	return v
}

func TestSameState(t *testing.T) {
	object := func(name string, h int) pyval.Value {
		return pyval.Value{Kind: pyval.Opaque, Str: name, Handle: h}
	}
	for _, c := range []struct {
		name string
		a, b pyval.Value
		same bool
	}{
		{"lists", list(1, 2), list(1, 2), true},
		{"another order", list(1, 2), list(2, 1), false},
		{"emptied", list(1), list(), false},
		{"empty", list(), pyval.Value{Kind: pyval.List, Items: []pyval.Value{}}, true},
		{"not a number", pyval.ListOf(pyval.FloatOf(math.NaN())), pyval.ListOf(pyval.FloatOf(math.NaN())), true},
		{"minus zero", pyval.ListOf(pyval.FloatOf(0)), pyval.ListOf(pyval.FloatOf(math.Copysign(0, -1))), false},
		{"1 for True", pyval.ListOf(pyval.BoolOf(true)), list(1), false},
		{"sets in any order", pyval.SetOf(pyval.IntOf(1), pyval.IntOf(20)), pyval.SetOf(pyval.IntOf(20), pyval.IntOf(1)), true},
		{"a list for a tuple", pyval.ListOf(pyval.TupleOf(list(1))), pyval.ListOf(list(1)), false},
		{"within a tuple", pyval.ListOf(pyval.TupleOf(list(1))), pyval.ListOf(pyval.TupleOf(list())), false},
		{"within a dict", pyval.DictOf(pyval.Pair{Key: pyval.StrOf("a"), Val: list(1)}), pyval.DictOf(pyval.Pair{Key: pyval.StrOf("a"), Val: list()}), false},
		{"a key more", pyval.DictOf(), pyval.DictOf(pyval.Pair{Key: pyval.StrOf("a")}), false},
		{"parts are kept apart", pyval.ListOf(list(1), list()), pyval.ListOf(list(), list(1)), false},
		{"one object under two names", pyval.ListOf(object("", 3)), pyval.ListOf(object("Box", 3)), true},
		{"another object", pyval.ListOf(object("Box", 3)), pyval.ListOf(object("Box", 4)), false},
	} {
		if got := sameState(c.a, c.b); got != c.same || sameState(c.b, c.a) != c.same {
			t.Errorf("%s: %s and %s, same is %t", c.name, c.a, c.b, got)
		}
	}
}

func TestFrozenArguments(t *testing.T) {
	call := Call{
		Args:   []pyval.Value{list(1), list(2), pyval.TupleOf(list(3)), pyval.StrOf("x")},
		Kwargs: []pyval.Pair{{Key: pyval.StrOf("rows"), Val: pyval.DictOf()}, {Key: pyval.StrOf("n"), Val: list(4)}},
	}
	answer := Answer{
		Args:   []pyval.Value{list(), list(2, 3), pyval.TupleOf(list()), pyval.StrOf("y")},
		Kwargs: []pyval.Value{pyval.DictOf(pyval.Pair{Key: pyval.IntOf(1)}), list(4)},
	}
	for _, c := range []struct {
		s    arguments
		sent []bool
	}{
		{arguments{}, []bool{true, true, false, false, true, false}},
		{arguments{frozen: true}, make([]bool, 6)},
		{arguments{frozen: true, written: []string{"m.f#1", "m.g#0"}}, []bool{false, true, false, false, false, false}},
		{arguments{frozen: true, written: []string{"m.f#rows"}}, []bool{false, false, false, false, true, false}},
	} {
		args, kwargs := c.s.back("m.f", 0, call, answer)
		var sent []bool
		for _, v := range append(args, kwargs...) {
			sent = append(sent, v != nil)
		}
		if !slices.Equal(sent, c.sent) {
			t.Errorf("%+v: sent back %v, want %v", c.s, sent, c.sent)
		}
		if got := c.s.names(); !slices.Equal(got, []string{"m.f#0", "m.f#1", "m.f#rows"}) {
			t.Errorf("changed %q", got)
		}
	}
}
