package pyval

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The wire form of a value is a JSON array: a tag and a content.
//
//	["n"] ["T"] ["F"]          None, True, False
//	["i", "-ff"]               int in hexadecimal
//	["f", "0x1.8p+1"]          float, also "nan", "inf", "-inf"
//	["s", "text"] ["u", hex]   str; the second holds lone surrogates
//	["b", hex]                 bytes
//	["l", [...]] ["t", [...]]  list, tuple
//	["e", [...]] ["z", [...]]  set, frozenset
//	["d", [[key, value], ...]] dict
//	["o", type name, handle]   anything else

// maxDepth bounds nesting; the child stops at 60.
const maxDepth = 80

// AppendWire appends the wire form of v to dst.
func AppendWire(dst []byte, v Value) []byte {
	switch v.Kind {
	case None:
		return append(dst, `["n"]`...)
	case Bool:
		if v.Bool {
			return append(dst, `["T"]`...)
		}
		return append(dst, `["F"]`...)
	case Int:
		dst = append(dst, `["i","`...)
		dst = v.Int.Append(dst, 16)
		return append(dst, `"]`...)
	case Float:
		s := strconv.FormatFloat(v.Float, 'x', -1, 64)
		switch s {
		case "NaN":
			s = "nan"
		case "+Inf":
			s = "inf"
		case "-Inf":
			s = "-inf"
		}
		return append(append(append(dst, `["f","`...), s...), `"]`...)
	case Str:
		if !utf8.ValidString(v.Str) {
			return append(hex.AppendEncode(append(dst, `["u","`...), []byte(v.Str)), `"]`...)
		}
		q, err := json.Marshal(v.Str)
		if err != nil {
			panic("pyval: a string that JSON cannot hold")
		}
		return append(append(append(dst, `["s",`...), q...), ']')
	case Bytes:
		return append(hex.AppendEncode(append(dst, `["b","`...), []byte(v.Str)), `"]`...)
	case List, Tuple, Set, FrozenSet:
		tag := map[Kind]string{List: "l", Tuple: "t", Set: "e", FrozenSet: "z"}[v.Kind]
		dst = append(append(append(dst, `["`...), tag...), `",[`...)
		for i, it := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendWire(dst, it)
		}
		return append(dst, "]]"...)
	case Dict:
		dst = append(dst, `["d",[`...)
		for i, p := range v.Pairs {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(AppendWire(append(AppendWire(append(dst, '['), p.Key), ','), p.Val), ']')
		}
		return append(dst, "]]"...)
	default: // Opaque
		q, err := json.Marshal(v.Str)
		if err != nil {
			q = []byte(`""`)
		}
		dst = append(append(append(dst, `["o",`...), q...), ',')
		return append(strconv.AppendInt(dst, int64(v.Handle), 10), ']')
	}
}

// MarshalJSON implements json.Marshaler with the wire form.
func (v Value) MarshalJSON() ([]byte, error) { return AppendWire(nil, v), nil }

// UnmarshalJSON implements json.Unmarshaler. It trusts nothing: whatever is
// not exactly the wire form is an error.
func (v *Value) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var raw any
	if err := dec.Decode(&raw); err != nil {
		return fmt.Errorf("decode value: %w", err)
	}
	out, err := fromWire(raw, 0)
	if err != nil {
		return err
	}
	*v = out
	return nil
}

func fromWire(raw any, depth int) (Value, error) {
	if depth > maxDepth {
		return Value{}, fmt.Errorf("value nested deeper than %d", maxDepth)
	}
	arr, ok := raw.([]any)
	if !ok || len(arr) == 0 {
		return Value{}, fmt.Errorf("value is not a tagged array")
	}
	tag, ok := arr[0].(string)
	if !ok {
		return Value{}, fmt.Errorf("tag is not a string")
	}
	want := 2
	switch tag {
	case "n", "T", "F":
		want = 1
	case "o":
		want = 3
	}
	if len(arr) != want {
		return Value{}, fmt.Errorf("value %q has %d parts", tag, len(arr))
	}
	switch tag {
	case "n":
		return Value{}, nil
	case "T", "F":
		return BoolOf(tag == "T"), nil
	case "l", "t", "e", "z":
		return fromItems(tag, arr[1], depth)
	case "d":
		return fromPairs(arr[1], depth)
	}
	s, ok := arr[1].(string)
	if !ok {
		return Value{}, fmt.Errorf("content of %q is not a string", tag)
	}
	switch tag {
	case "i":
		i, ok := new(big.Int).SetString(s, 16)
		if !ok || strings.ContainsAny(s, "+_ ") {
			return Value{}, fmt.Errorf("not an integer")
		}
		return BigOf(i), nil
	case "f":
		return fromFloat(s)
	case "s":
		return StrOf(s), nil
	case "u", "b":
		b, err := hex.DecodeString(s)
		if err != nil {
			return Value{}, fmt.Errorf("decode hex: %w", err)
		}
		if tag == "u" {
			return StrOf(string(b)), nil
		}
		return BytesOf(b), nil
	case "o":
		n, ok := arr[2].(json.Number)
		if !ok {
			return Value{}, fmt.Errorf("handle is not a number")
		}
		h, err := strconv.Atoi(n.String())
		if err != nil || h < 0 {
			return Value{}, fmt.Errorf("handle is not a natural number")
		}
		return Value{Kind: Opaque, Str: s, Handle: h}, nil
	}
	return Value{}, fmt.Errorf("unknown tag")
}

func fromItems(tag string, raw any, depth int) (Value, error) {
	arr, ok := raw.([]any)
	if !ok {
		return Value{}, fmt.Errorf("content of %q is not an array", tag)
	}
	v := Value{Kind: map[string]Kind{"l": List, "t": Tuple, "e": Set, "z": FrozenSet}[tag]}
	for _, r := range arr {
		it, err := fromWire(r, depth+1)
		if err != nil {
			return Value{}, err
		}
		v.Items = append(v.Items, it)
	}
	return v, nil
}

func fromPairs(raw any, depth int) (Value, error) {
	arr, ok := raw.([]any)
	if !ok {
		return Value{}, fmt.Errorf("content of a dict is not an array")
	}
	v := Value{Kind: Dict}
	for _, r := range arr {
		kv, ok := r.([]any)
		if !ok || len(kv) != 2 {
			return Value{}, fmt.Errorf("entry of a dict is not a pair")
		}
		key, err := fromWire(kv[0], depth+1)
		if err != nil {
			return Value{}, err
		}
		val, err := fromWire(kv[1], depth+1)
		if err != nil {
			return Value{}, err
		}
		v.Pairs = append(v.Pairs, Pair{key, val})
	}
	return v, nil
}

func fromFloat(s string) (Value, error) {
	switch s {
	case "nan", "inf", "-inf":
	default:
		if !strings.HasPrefix(strings.TrimPrefix(s, "-"), "0x") {
			return Value{}, fmt.Errorf("not a hexadecimal float")
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return Value{}, fmt.Errorf("not a float: %w", err)
	}
	return FloatOf(f), nil
}
