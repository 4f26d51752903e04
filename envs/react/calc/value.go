package calc

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Value is an exact integer or a finite float.
type Value struct {
	i *big.Int // nil for a float
	f float64
}

// Int reports the integer of v, and whether v is one.
func (v Value) Int() (*big.Int, bool) {
	if v.i == nil {
		return nil, false
	}
	return new(big.Int).Set(v.i), true
}

// String is v as Python writes it.
func (v Value) String() string {
	if v.i != nil {
		return v.i.String()
	}
	return formatFloat(v.f)
}

// formatFloat is the shortest text that reads back as f, in Python's form:
// with a point or an exponent, the latter outside 1e-4 <= |f| < 1e16.
func formatFloat(f float64) string {
	if a := math.Abs(f); f != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// float is v as a float, rounded to nearest.
func (v Value) float() (float64, error) {
	if v.i == nil {
		return v.f, nil
	}
	f, _ := new(big.Float).SetInt(v.i).Float64()
	if math.IsInf(f, 0) {
		return 0, errTooLarge
	}
	return f, nil
}

// exact is v as a fraction.
func (v Value) exact() *big.Rat {
	if v.i != nil {
		return new(big.Rat).SetInt(v.i)
	}
	return new(big.Rat).SetFloat64(v.f)
}

func (v Value) sign() int {
	if v.i != nil {
		return v.i.Sign()
	}
	switch {
	case v.f < 0:
		return -1
	case v.f > 0:
		return 1
	}
	return 0
}

func (v Value) neg() Value {
	if v.i != nil {
		return Value{i: new(big.Int).Neg(v.i)}
	}
	return Value{f: -v.f}
}
