package pyval_test

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

var samples = []struct {
	v    pyval.Value
	repr string
}{
	{pyval.NoneOf(), "None"},
	{pyval.BoolOf(true), "True"},
	{pyval.BoolOf(false), "False"},
	{pyval.IntOf(-255), "-255"},
	{pyval.BigOf(new(big.Int).Lsh(big.NewInt(1), 100)), "1267650600228229401496703205376"},
	{pyval.FloatOf(1.5), "1.5"},
	{pyval.FloatOf(3), "3.0"},
	{pyval.FloatOf(1e16), "1e+16"},
	{pyval.FloatOf(1e15), "1000000000000000.0"},
	{pyval.FloatOf(0.0001), "0.0001"},
	{pyval.FloatOf(0.00001), "1e-05"},
	{pyval.FloatOf(math.Inf(-1)), "-inf"},
	{pyval.FloatOf(math.SmallestNonzeroFloat64), "5e-324"},
	{pyval.StrOf("it's"), `"it's"`},
	{pyval.StrOf("a\n\\é"), `'a\n\\é'`},
	{pyval.StrOf("\xed\xa0\x80"), `'\xed\xa0\x80'`},
	{pyval.BytesOf([]byte{0, 255, 'a'}), `b'\x00\xffa'`},
	{pyval.ListOf(pyval.IntOf(1), pyval.ListOf()), "[1, []]"},
	{pyval.TupleOf(pyval.IntOf(1)), "(1,)"},
	{pyval.TupleOf(), "()"},
	{pyval.SetOf(), "set()"},
	{pyval.SetOf(pyval.IntOf(1)), "{1}"},
	{pyval.Value{Kind: pyval.FrozenSet, Items: []pyval.Value{pyval.IntOf(1)}}, "frozenset({1})"},
	{pyval.DictOf(pyval.Pair{Key: pyval.StrOf("a"), Val: pyval.NoneOf()}), "{'a': None}"},
	{pyval.Value{Kind: pyval.Opaque, Str: "Thing", Handle: 3}, "<Thing object>"},
}

func TestRoundTripAndText(t *testing.T) {
	for _, s := range samples {
		if got := s.v.String(); got != s.repr {
			t.Errorf("text %s, want %s", got, s.repr)
		}
		wire, err := json.Marshal(s.v)
		if err != nil {
			t.Fatal(err)
		}
		var back pyval.Value
		if err := json.Unmarshal(wire, &back); err != nil {
			t.Errorf("%s: %v", wire, err)
			continue
		}
		if back.String() != s.repr || back.Kind != s.v.Kind || back.Handle != s.v.Handle {
			t.Errorf("%s came back as %s", s.repr, back)
		}
	}
}

func TestUnmarshalIsStrict(t *testing.T) {
	for _, bad := range []string{
		``, `null`, `1`, `"i"`, `[]`, `[1]`, `["i"]`, `["i",1]`, `["i","xyz"]`, `["i","+1"]`, `["i","1_0"]`, `["i",""]`, `["i","1","2"]`,
		`["f","1.5"]`, `["f","Infinity"]`, `["f","0x"]`, `["n",1]`, `["T",true]`, `["s",1]`, `["u","zz"]`, `["b","0"]`, `["l",1]`, `["l",[1]]`,
		`["d",[1]]`, `["d",[[["n"]]]]`, `["o","x"]`, `["o","x",-1]`, `["o","x",1.5]`, `["q",1]`, `["value","x"]`, `{"i":"1"}`,
		strings.Repeat(`["l",[`, 100) + strings.Repeat(`]]`, 100),
	} {
		var v pyval.Value
		if err := json.Unmarshal([]byte(bad), &v); err == nil {
			t.Errorf("%s was read as %s", bad, v)
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	for _, s := range samples {
		f.Add(pyval.AppendWire(nil, s.v))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var v, again pyval.Value
		if json.Unmarshal(data, &v) != nil {
			return
		}
		wire := pyval.AppendWire(nil, v)
		if err := json.Unmarshal(wire, &again); err != nil {
			t.Fatalf("%s is read but not written: %v", wire, err)
		}
		if again.String() != v.String() || again.Plain() != v.Plain() {
			t.Fatalf("%s became %s", v, again)
		}
	})
}

func TestPlain(t *testing.T) {
	inner := pyval.ListOf(pyval.DictOf(pyval.Pair{Key: pyval.StrOf("k"), Val: pyval.Value{Kind: pyval.Opaque}}))
	if inner.Plain() || !pyval.ListOf(pyval.IntOf(1)).Plain() {
		t.Error("an opaque part went unnoticed")
	}
	if !reflect.DeepEqual(pyval.Value{}, pyval.NoneOf()) {
		t.Error("the zero value is not None")
	}
}
