package codefix

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/proctor-rl/proctor/internal/sandbox/grade"
	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

const maxValueDepth = 32

// decodeValue reads a JSON value as a Python one. A number with a point or an
// exponent is a float, any other an int of any size. With tags, an object of
// the single key tuple, set, frozenset, bytes, float, dict or none stands for
// what JSON lacks; "dict" is a list of [key, value] pairs.
func decodeValue(raw json.RawMessage, tagged bool) (pyval.Value, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	d := decoder{dec, tagged}
	v, err := d.value(0)
	if err != nil {
		return v, err
	}
	if dec.More() {
		return v, errors.New("something follows the value")
	}
	return v, nil
}

type decoder struct {
	dec    *json.Decoder
	tagged bool
}

func (d decoder) value(depth int) (pyval.Value, error) {
	if depth > maxValueDepth {
		return pyval.Value{}, errors.New("the value is nested too deeply")
	}
	t, err := d.dec.Token()
	if err != nil {
		return pyval.Value{}, fmt.Errorf("the value is not JSON: %s", jsonFault(err))
	}
	switch t := t.(type) {
	case nil:
		return pyval.NoneOf(), nil
	case bool:
		return pyval.BoolOf(t), nil
	case string:
		return pyval.StrOf(t), nil
	case json.Number:
		return number(t.String())
	case json.Delim:
		if t == '[' {
			items, err := d.items(depth)
			return pyval.ListOf(items...), err
		}
		return d.object(depth)
	}
	return pyval.Value{}, errors.New("the value is not JSON")
}

func number(s string) (pyval.Value, error) {
	if strings.ContainsAny(s, ".eE") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return pyval.Value{}, errors.New("a number is out of range")
		}
		return pyval.FloatOf(f), nil
	}
	if len(s) > 4000 {
		return pyval.Value{}, errors.New("a number is too long")
	}
	i, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return pyval.Value{}, errors.New("a number does not parse")
	}
	return pyval.BigOf(i), nil
}

func (d decoder) items(depth int) ([]pyval.Value, error) {
	items := []pyval.Value{}
	for d.dec.More() {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	_, err := d.dec.Token()
	return items, err
}

func (d decoder) object(depth int) (pyval.Value, error) {
	var pairs []pyval.Pair
	seen := map[string]bool{}
	for d.dec.More() {
		k, err := d.dec.Token()
		if err != nil {
			return pyval.Value{}, fmt.Errorf("the value is not JSON: %s", jsonFault(err))
		}
		key, _ := k.(string)
		if seen[key] {
			return pyval.Value{}, fmt.Errorf("the key %q is there twice", key)
		}
		seen[key] = true
		v, err := d.value(depth + 1)
		if err != nil {
			return pyval.Value{}, err
		}
		pairs = append(pairs, pyval.Pair{Key: pyval.StrOf(key), Val: v})
	}
	if _, err := d.dec.Token(); err != nil {
		return pyval.Value{}, err
	}
	if d.tagged && len(pairs) == 1 {
		return untag(pairs[0].Key.Str, pairs[0].Val)
	}
	return pyval.DictOf(pairs...), nil
}

// untag is what an object of one key means where tags are on.
func untag(tag string, v pyval.Value) (pyval.Value, error) {
	isList := v.Kind == pyval.List
	switch {
	case tag == "tuple" && isList:
		return pyval.TupleOf(v.Items...), nil
	case tag == "set" && isList:
		return pyval.SetOf(v.Items...), nil
	case tag == "frozenset" && isList:
		return pyval.Value{Kind: pyval.FrozenSet, Items: v.Items}, nil
	case tag == "bytes" && v.Kind == pyval.Str:
		b, err := hex.DecodeString(v.Str)
		if err != nil {
			return pyval.Value{}, errors.New(`"bytes" is not hexadecimal`)
		}
		return pyval.BytesOf(b), nil
	case tag == "float" && v.Kind == pyval.Str:
		f, err := strconv.ParseFloat(v.Str, 64)
		if err != nil {
			return pyval.Value{}, errors.New(`"float" is not a number, inf or nan`)
		}
		return pyval.FloatOf(f), nil
	case tag == "none":
		return pyval.NoneOf(), nil
	case tag == "dict" && isList:
		var pairs []pyval.Pair
		for _, p := range v.Items {
			if (p.Kind != pyval.List && p.Kind != pyval.Tuple) || len(p.Items) != 2 {
				return pyval.Value{}, errors.New(`"dict" is not a list of pairs`)
			}
			pairs = append(pairs, pyval.Pair{Key: p.Items[0], Val: p.Items[1]})
		}
		return pyval.DictOf(pairs...), nil
	}
	return pyval.DictOf(pyval.Pair{Key: pyval.StrOf(tag), Val: v}), nil
}

// compiled is a case in the form that the grader plays.
func (c *Case) compiled() (grade.Case, error) {
	g := grade.Case{Fn: c.Fn, Raises: c.Raises}
	args, err := decodeValue(c.Args, c.Tagged)
	if err != nil {
		return g, fmt.Errorf("\"args\": %w", err)
	}
	g.Args = args.Items
	if len(c.Kwargs) > 0 {
		k, err := decodeValue(c.Kwargs, c.Tagged)
		if err != nil {
			return g, fmt.Errorf("\"kwargs\": %w", err)
		}
		g.Kwargs = k.Pairs
	}
	if c.Raises == "" {
		if g.Want, err = decodeValue(c.Want, c.Tagged); err != nil {
			return g, fmt.Errorf("\"want\": %w", err)
		}
	}
	g.Compare = grade.Compare{Kind: grade.Exact, LooseSequences: !c.Tagged}
	if k := c.Compare; k != nil {
		g.Compare.Kind, g.Compare.Rel, g.Compare.Abs = grade.CompareKind(k.Kind), k.Rel, k.Abs
		if check := checkers[k.Kind]; check != nil {
			g.Compare.Kind, g.Check = grade.Exact, check(g.Want)
		}
	}
	return g, nil
}

func (c *Case) checkValues() error {
	_, err := c.compiled()
	return err
}

// suite compiles cases for the grader.
func suite(cases []Case) (grade.Suite, error) {
	var s grade.Suite
	for i := range cases {
		g, err := cases[i].compiled()
		if err != nil {
			return s, fmt.Errorf("hidden case %d: %w", i, err)
		}
		s.Cases = append(s.Cases, g)
	}
	return s, nil
}
