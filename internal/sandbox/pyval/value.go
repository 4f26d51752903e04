// Package pyval holds Python values on the Go side: what goes into a call of
// untrusted Python code and what comes out of it.
//
// It keeps apart everything that Python's == would blur: an int from a bool
// and a float, a list from a tuple, NaN from a number. It only carries values;
// comparing them is the business of package grade, and running code that of
// package sandbox. Both import it, and so may the authors of tasks.
package pyval

import (
	"math/big"
	"strings"
)

// Kind is the exact built-in type of a value.
type Kind uint8

// The kinds of values. Subclasses of a built-in type, such as Counter or a
// namedtuple, travel as their base; everything that has no built-in base is
// Opaque.
const (
	None Kind = iota
	Bool
	Int
	Float
	Str
	Bytes
	List
	Tuple
	Set
	FrozenSet
	Dict
	Opaque // any other object: known by its type's name only, equal to nothing
)

var kindNames = [...]string{"NoneType", "bool", "int", "float", "str", "bytes", "list", "tuple", "set", "frozenset", "dict", "object"}

// String returns Python's name of the type.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid"
}

// Value is one Python value. The zero Value is None. Values are immutable by
// convention: slices in them are shared, never written.
type Value struct {
	Kind  Kind
	Bool  bool     // Bool
	Int   *big.Int // Int, never nil for that kind
	Float float64  // Float, NaN and infinities included
	Str   string   // Str (lone surrogates as WTF-8), Bytes (raw), Opaque (type name)
	Items []Value  // List, Tuple, Set, FrozenSet
	Pairs []Pair   // Dict, in insertion order

	// Handle numbers an Opaque value that the child still holds, so that a
	// proxied test can use it again; 0 means that it is out of reach.
	Handle int
}

// Pair is one entry of a dict.
type Pair struct{ Key, Val Value }

// NoneOf returns None.
func NoneOf() Value { return Value{} }

// BoolOf returns a bool.
func BoolOf(b bool) Value { return Value{Kind: Bool, Bool: b} }

// IntOf returns an int.
func IntOf(i int64) Value { return Value{Kind: Int, Int: big.NewInt(i)} }

// BigOf returns an int of any size.
func BigOf(i *big.Int) Value { return Value{Kind: Int, Int: i} }

// FloatOf returns a float.
func FloatOf(f float64) Value { return Value{Kind: Float, Float: f} }

// StrOf returns a str.
func StrOf(s string) Value { return Value{Kind: Str, Str: s} }

// BytesOf returns a bytes object.
func BytesOf(b []byte) Value { return Value{Kind: Bytes, Str: string(b)} }

// ListOf returns a list.
func ListOf(items ...Value) Value { return Value{Kind: List, Items: items} }

// TupleOf returns a tuple.
func TupleOf(items ...Value) Value { return Value{Kind: Tuple, Items: items} }

// SetOf returns a set. The caller keeps its members distinct.
func SetOf(items ...Value) Value { return Value{Kind: Set, Items: items} }

// DictOf returns a dict. The caller keeps its keys distinct.
func DictOf(pairs ...Pair) Value { return Value{Kind: Dict, Pairs: pairs} }

// Plain reports whether v holds no opaque part, that is, whether its whole
// content is known to Go.
func (v Value) Plain() bool {
	if v.Kind == Opaque {
		return false
	}
	for _, it := range v.Items {
		if !it.Plain() {
			return false
		}
	}
	for _, p := range v.Pairs {
		if !p.Key.Plain() || !p.Val.Plain() {
			return false
		}
	}
	return true
}

// String renders v in Python's notation, for messages and tests.
func (v Value) String() string {
	var b strings.Builder
	v.write(&b)
	return b.String()
}
