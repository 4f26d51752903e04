package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// Type says how an answer is read and compared.
type Type string

// The types of answers.
const (
	String  Type = "string"
	Integer Type = "integer"
	Decimal Type = "decimal"
	Date    Type = "date"
	Boolean Type = "boolean"
)

// maxBytes bounds what is read as an answer. Longer text is no answer at all,
// and reading it as a number would cost time in its length.
const maxBytes = 512

// Gold is one right answer. The zero value matches nothing; make one with New,
// Text or Int.
type Gold struct {
	kind    Type
	folded  []string // string: the folded spellings
	num     *big.Rat // integer and decimal
	abs     *big.Rat // decimal: how far off is still right, nil for exact
	day     day      // date
	yes     bool     // boolean
	display string
}

// Text is the gold of a string and its further spellings.
func Text(value string, aliases ...string) Gold {
	g := Gold{kind: String, display: value}
	for _, s := range append([]string{value}, aliases...) {
		g.folded = append(g.folded, Fold(s))
	}
	return g
}

// Int is the gold of an integer.
func Int(v int64) Gold {
	return Gold{kind: Integer, num: new(big.Rat).SetInt64(v), display: fmt.Sprint(v)}
}

// Spec is a gold as it stands in a task file.
type Spec struct {
	Type    Type            `json:"type"`
	Value   json.RawMessage `json:"value"`
	Aliases []string        `json:"aliases,omitempty"`
	Abs     *json.Number    `json:"abs,omitempty"`
}

// New reads a gold from a task file's entry. The error says what is wrong in
// words for the file's author.
func New(s Spec) (Gold, error) {
	if len(s.Value) == 0 || string(s.Value) == "null" {
		return Gold{}, errors.New("answer has no value")
	}
	if s.Type != String && len(s.Aliases) > 0 {
		return Gold{}, fmt.Errorf("aliases are for strings, not for type %q", s.Type)
	}
	if s.Type != Decimal && s.Abs != nil {
		return Gold{}, fmt.Errorf("abs is for decimals, not for type %q", s.Type)
	}
	text := strings.TrimSpace(string(s.Value))
	if text[0] == '"' {
		if err := json.Unmarshal(s.Value, &text); err != nil {
			return Gold{}, fmt.Errorf("read value: %w", err)
		}
	} else if s.Type == String || s.Type == Date {
		return Gold{}, fmt.Errorf("a %s value is written as a JSON string", s.Type)
	}
	if len(text) > maxBytes {
		return Gold{}, fmt.Errorf("value is longer than %d bytes", maxBytes)
	}
	switch s.Type {
	case String:
		for _, v := range append([]string{text}, s.Aliases...) {
			if Fold(v) == "" || len(v) > maxBytes {
				return Gold{}, fmt.Errorf("%q is no usable answer: empty or too long", v)
			}
		}
		return Text(text, s.Aliases...), nil
	case Integer, Decimal:
		return newNumber(s, text)
	case Date:
		d, ok := parseDay(text)
		if !ok {
			return Gold{}, fmt.Errorf("%q is no date: want 2006-01-02, 2006-01 or 2006", text)
		}
		return Gold{kind: Date, day: d, display: text}, nil
	case Boolean:
		b, ok := parseBool(text)
		if !ok {
			return Gold{}, fmt.Errorf("%q is no boolean", text)
		}
		return Gold{kind: Boolean, yes: b, display: text}, nil
	}
	return Gold{}, fmt.Errorf("unknown answer type %q: want string, integer, decimal, date or boolean", s.Type)
}

func newNumber(s Spec, text string) (Gold, error) {
	v, ok := parseNumber(text)
	if !ok || (s.Type == Integer && !v.IsInt()) {
		return Gold{}, fmt.Errorf("%q is no %s", text, s.Type)
	}
	g := Gold{kind: s.Type, num: v, display: text}
	if s.Abs != nil {
		abs, ok := parseNumber(s.Abs.String())
		if !ok || abs.Sign() < 0 {
			return Gold{}, fmt.Errorf("abs %q is no tolerance", s.Abs.String())
		}
		g.abs = abs
	}
	return g, nil
}

// Type is how g compares.
func (g Gold) Type() Type { return g.kind }

// String is g as a perfect agent would write it.
func (g Gold) String() string { return g.display }

// Match reports whether s is g and nothing besides.
func (g Gold) Match(s string) bool {
	if len(s) > maxBytes {
		return false
	}
	switch g.kind {
	case String:
		f := Fold(s)
		if f == "" {
			return false
		}
		for _, want := range g.folded {
			if f == want {
				return true
			}
		}
	case Integer:
		v, ok := parseNumber(s)
		return ok && v.IsInt() && v.Cmp(g.num) == 0
	case Decimal:
		v, ok := parseNumber(s)
		if !ok {
			return false
		}
		if g.abs == nil {
			return v.Cmp(g.num) == 0
		}
		d := new(big.Rat).Sub(v, g.num)
		return d.Abs(d).Cmp(g.abs) <= 0
	case Date:
		d, ok := parseDay(s)
		return ok && d == g.day
	case Boolean:
		b, ok := parseBool(s)
		return ok && b == g.yes
	}
	return false
}

// MatchAny reports whether s is one of golds.
func MatchAny(golds []Gold, s string) bool {
	for _, g := range golds {
		if g.Match(s) {
			return true
		}
	}
	return false
}
