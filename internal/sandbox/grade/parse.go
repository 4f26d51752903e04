package grade

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

// caseFile is a hidden case as a task file has it.
type caseFile struct {
	Op       string            `json:"op"`
	Fn       string            `json:"fn"`
	Args     []json.RawMessage `json:"args"`
	Kwargs   json.RawMessage   `json:"kwargs"`
	Want     json.RawMessage   `json:"want"`
	Raises   string            `json:"raises"`
	WantArgs []json.RawMessage `json:"want_args"`
	Tagged   bool              `json:"tagged"`
	Compare  *compareFile      `json:"compare"`
}

type compareFile struct {
	Kind CompareKind `json:"kind"`
	Rel  float64     `json:"rel"`
	Abs  float64     `json:"abs"`
}

// ParseCases reads hidden cases in the form of task files: a JSON array of
//
//	{"op": "call", "fn": "clamp", "args": [5, 0, 3], "want": 3}
//	{"op": "call", "fn": "clamp", "args": [1, 3, 0], "raises": "ValueError"}
//
// with optional "kwargs", "want_args" (the arguments after the call),
// "compare" and "tagged". Plain JSON values keep their exact type: 2 is an int
// and 2.0 a float. Without "tagged" a wanted list accepts a list or a tuple;
// with it, {"tuple": [...]}, {"set": [...]}, {"frozenset": [...]}, {"bytes":
// "hex"}, {"float": "nan"}, {"dict": [[key, value], ...]} and {"none": true}
// stand for what JSON lacks, and a list is a list.
func ParseCases(data []byte) ([]Case, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var raw []caseFile
	if err := dec.Decode(&raw); err != nil {
		return nil, fmt.Errorf("read hidden cases: %w", err)
	}
	if dec.More() {
		return nil, errors.New("read hidden cases: something follows them")
	}
	out := make([]Case, len(raw))
	for i, f := range raw {
		var err error
		if out[i], err = f.parse(); err != nil {
			return nil, fmt.Errorf("hidden case %d: %w", i+1, err)
		}
	}
	return out, nil
}

func (f caseFile) parse() (Case, error) {
	k := Case{Fn: f.Fn, Raises: f.Raises}
	switch {
	case f.Op != "call" && f.Op != "":
		return k, fmt.Errorf("unknown op %q", f.Op)
	case f.Fn == "":
		return k, errors.New("fn is missing")
	case f.Want == nil && f.Raises == "" && f.WantArgs == nil:
		return k, errors.New("one of want, raises and want_args is needed")
	case f.Want != nil && f.Raises != "":
		return k, errors.New("want and raises exclude each other")
	}
	k.Compare = Compare{Kind: Exact, LooseSequences: !f.Tagged}
	if f.Compare != nil {
		k.Compare.Kind, k.Compare.Rel, k.Compare.Abs = f.Compare.Kind, f.Compare.Rel, f.Compare.Abs
		switch f.Compare.Kind {
		case Exact, Unordered:
		case Approx:
			if f.Compare.Rel < 0 || f.Compare.Abs < 0 || f.Compare.Rel+f.Compare.Abs == 0 {
				return k, errors.New("an approximate comparison needs a positive rel or abs")
			}
		default:
			return k, fmt.Errorf("unknown comparison %q", f.Compare.Kind)
		}
	}
	var err error
	if k.Args, err = parseAll(f.Args, f.Tagged); err != nil {
		return k, fmt.Errorf("args: %w", err)
	}
	if f.WantArgs != nil {
		if len(f.WantArgs) != len(f.Args) {
			return k, errors.New("want_args must have as many entries as args")
		}
		if k.WantArgs, err = parseAll(f.WantArgs, f.Tagged); err != nil {
			return k, fmt.Errorf("want_args: %w", err)
		}
	}
	if f.Kwargs != nil {
		v, err := ParseValue(f.Kwargs, false)
		if err != nil {
			return k, fmt.Errorf("kwargs: %w", err)
		}
		if v.Kind != pyval.Dict {
			return k, errors.New("kwargs must be an object")
		}
		k.Kwargs = v.Pairs
	}
	if f.Want != nil {
		if k.Want, err = ParseValue(f.Want, f.Tagged); err != nil {
			return k, fmt.Errorf("want: %w", err)
		}
	} else if f.WantArgs != nil && f.Raises == "" {
		k.Check = func([]pyval.Value, pyval.Value) bool { return true } // only the arguments count
	}
	return k, nil
}

func parseAll(raw []json.RawMessage, tagged bool) ([]pyval.Value, error) {
	out := make([]pyval.Value, len(raw))
	for i, r := range raw {
		var err error
		if out[i], err = ParseValue(r, tagged); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ParseValue reads one value of a task file.
func ParseValue(data []byte, tagged bool) (pyval.Value, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := parseNext(dec, tagged)
	if err != nil {
		return pyval.Value{}, err
	}
	if dec.More() {
		return pyval.Value{}, errors.New("more than one value")
	}
	return v, nil
}

// parseNext reads by tokens, because the order of an object's keys counts:
// Python dicts keep it.
func parseNext(dec *json.Decoder, tagged bool) (pyval.Value, error) {
	tok, err := dec.Token()
	if err != nil {
		return pyval.Value{}, err
	}
	switch t := tok.(type) {
	case nil:
		return pyval.NoneOf(), nil
	case bool:
		return pyval.BoolOf(t), nil
	case string:
		return pyval.StrOf(t), nil
	case json.Number:
		if !strings.ContainsAny(t.String(), ".eE") {
			i, ok := new(big.Int).SetString(t.String(), 10)
			if !ok {
				return pyval.Value{}, fmt.Errorf("bad number %s", t)
			}
			return pyval.BigOf(i), nil
		}
		f, err := t.Float64()
		if err != nil {
			return pyval.Value{}, fmt.Errorf("bad number %s", t)
		}
		return pyval.FloatOf(f), nil
	case json.Delim:
		if t == '[' {
			return parseArray(dec, tagged)
		}
		return parseObject(dec, tagged)
	}
	return pyval.Value{}, fmt.Errorf("unexpected %v", tok)
}

func parseArray(dec *json.Decoder, tagged bool) (pyval.Value, error) {
	v := pyval.Value{Kind: pyval.List}
	for dec.More() {
		it, err := parseNext(dec, tagged)
		if err != nil {
			return v, err
		}
		v.Items = append(v.Items, it)
	}
	_, err := dec.Token()
	return v, err
}

func parseObject(dec *json.Decoder, tagged bool) (pyval.Value, error) {
	v := pyval.Value{Kind: pyval.Dict}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return v, err
		}
		val, err := parseNext(dec, tagged)
		if err != nil {
			return v, err
		}
		name, ok := key.(string)
		if !ok {
			return v, fmt.Errorf("the key %v is not a string", key)
		}
		v.Pairs = append(v.Pairs, pyval.Pair{Key: pyval.StrOf(name), Val: val})
	}
	if _, err := dec.Token(); err != nil {
		return v, err
	}
	if tagged && len(v.Pairs) == 1 {
		return untag(v)
	}
	return v, nil
}

// untag turns {"tuple": [...]} and its like into what they stand for; any
// other object is a dict.
func untag(v pyval.Value) (pyval.Value, error) {
	name, val := v.Pairs[0].Key.Str, v.Pairs[0].Val
	kinds := map[string]pyval.Kind{"tuple": pyval.Tuple, "set": pyval.Set, "frozenset": pyval.FrozenSet}
	switch {
	case kinds[name] != 0 && val.Kind == pyval.List:
		return pyval.Value{Kind: kinds[name], Items: val.Items}, nil
	case name == "bytes" && val.Kind == pyval.Str:
		b, err := hex.DecodeString(val.Str)
		if err != nil {
			return v, fmt.Errorf("bytes: %w", err)
		}
		return pyval.BytesOf(b), nil
	case name == "none" && val.Kind == pyval.Bool && val.Bool:
		return pyval.NoneOf(), nil
	case name == "float" && val.Kind == pyval.Str:
		var f pyval.Value
		if err := f.UnmarshalJSON([]byte(`["f",` + quoteJSON(val.Str) + `]`)); err != nil {
			return v, err
		}
		return f, nil
	case name == "dict" && val.Kind == pyval.List:
		d := pyval.Value{Kind: pyval.Dict}
		for _, it := range val.Items {
			if it.Kind != pyval.List || len(it.Items) != 2 {
				return v, errors.New("dict: an entry is not a pair")
			}
			d.Pairs = append(d.Pairs, pyval.Pair{Key: it.Items[0], Val: it.Items[1]})
		}
		return d, nil
	}
	return v, nil
}

func quoteJSON(s string) string {
	q, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(q)
}
