package sandbox

import (
	"maps"
	"slices"
	"strconv"

	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

// arguments decides what trusted tests see of what calls do to the lists, sets
// and dicts that they were given.
//
// A test may look at an argument after a call: to see that a function that
// works in place has done its work, or that another has left its input alone.
// It may as well work out from the argument what the call should have returned,
// and is then at the mercy of code that empties both. The tests of one job
// cannot be told apart by that, but what a right solution changes is known:
// frozen, only those arguments change.
type arguments struct {
	frozen  bool
	written []string        // are changed in spite of frozen
	changed map[string]bool // what calls changed, seen by the tests or not
}

// names lists the arguments that were changed.
func (s *arguments) names() []string { return slices.Sorted(maps.Keys(s.changed)) }

// back is what of the arguments of a call goes back to the tests, nil where
// they keep what they have. The first few of the call's, which are not the
// function's, do not count.
func (s *arguments) back(function string, first int, call Call, a Answer) (args, kwargs []*pyval.Value) {
	args, kwargs = make([]*pyval.Value, len(call.Args)), make([]*pyval.Value, len(call.Kwargs))
	for i := range call.Args {
		args[i] = s.one(function+"#"+strconv.Itoa(i-first), call.Args[i], a.Args[i])
	}
	for i, kv := range call.Kwargs {
		kwargs[i] = s.one(function+"#"+kv.Key.Str, kv.Val, a.Kwargs[i])
	}
	return args, kwargs
}

func (s *arguments) one(name string, before, after pyval.Value) *pyval.Value {
	switch before.Kind {
	case pyval.List, pyval.Set, pyval.Dict:
	default:
		return nil
	}
	if after.Kind != before.Kind || sameState(before, after) {
		return nil
	}
	if s.changed == nil {
		s.changed = map[string]bool{}
	}
	s.changed[name] = true
	if s.frozen && !slices.Contains(s.written, name) {
		return nil
	}
	return &after
}

// sameState reports whether nothing was done to a value. NaN is as it was, 1
// for True is a change, and the order of a set says nothing.
func sameState(a, b pyval.Value) bool {
	return a.Kind == b.Kind && len(a.Items) == len(b.Items) && len(a.Pairs) == len(b.Pairs) && state(a) == state(b)
}

// state is equal for equal states. An object's is its number: what is in it is
// the other process's.
func state(v pyval.Value) string { return string(appendState(nil, v)) }

func appendState(dst []byte, v pyval.Value) []byte {
	switch v.Kind {
	case pyval.Opaque:
		return strconv.AppendInt(append(dst, 'o'), int64(v.Handle), 10)
	case pyval.List, pyval.Tuple, pyval.Set, pyval.FrozenSet:
		parts := make([]string, len(v.Items))
		for i, it := range v.Items {
			parts[i] = state(it)
		}
		if v.Kind == pyval.Set || v.Kind == pyval.FrozenSet {
			slices.Sort(parts)
		}
		return appendParts(append(dst, v.Kind.String()...), parts)
	case pyval.Dict:
		parts := make([]string, 0, 2*len(v.Pairs))
		for _, p := range v.Pairs {
			parts = append(parts, state(p.Key), state(p.Val))
		}
		return appendParts(append(dst, 'd'), parts)
	default:
		return pyval.AppendWire(dst, v)
	}
}

// appendParts keeps parts apart by their lengths.
func appendParts(dst []byte, parts []string) []byte {
	dst = append(dst, '(')
	for _, p := range parts {
		dst = append(append(strconv.AppendInt(dst, int64(len(p)), 10), ':'), p...)
	}
	return append(dst, ')')
}
