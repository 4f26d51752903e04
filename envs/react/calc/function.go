package calc

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
)

// arity is the least and the greatest number of arguments of each function.
var arity = map[string][2]int{
	"abs": {1, 1}, "sqrt": {1, 1}, "floor": {1, 1}, "ceil": {1, 1},
	"round": {1, 2}, "gcd": {2, 8}, "min": {2, 32}, "max": {2, 32},
}

func call(name string, args []Value) (Value, error) {
	n, ok := arity[name]
	if !ok {
		return Value{}, fmt.Errorf("unknown function %q", name)
	}
	if len(args) < n[0] || len(args) > n[1] {
		return Value{}, fmt.Errorf("%s cannot take %d arguments", name, len(args))
	}
	a := args[0]
	switch name {
	case "abs":
		if a.sign() < 0 || math.Signbit(a.f) {
			return a.neg(), nil
		}
		return a, nil
	case "sqrt":
		x, err := a.float()
		if err != nil {
			return Value{}, err
		}
		if x < 0 {
			return Value{}, errUndefined
		}
		return real(math.Sqrt(x))
	case "floor", "ceil":
		return whole(name, a)
	case "round":
		return round(args)
	case "gcd":
		return gcd(args)
	}
	for _, b := range args[1:] {
		// Integers and floats compare by exact value, the first of equals wins.
		c := b.exact().Cmp(a.exact())
		if name == "min" && c < 0 || name == "max" && c > 0 {
			a = b
		}
	}
	return a, nil
}

func whole(name string, a Value) (Value, error) {
	if a.i != nil {
		return a, nil
	}
	f := math.Floor(a.f)
	if name == "ceil" {
		f = math.Ceil(a.f)
	}
	i, _ := big.NewFloat(f).Int(nil)
	return integer(i)
}

func gcd(args []Value) (Value, error) {
	g := new(big.Int)
	for _, a := range args {
		if a.i == nil {
			return Value{}, errors.New("gcd must be given integers")
		}
		g.GCD(nil, nil, g, new(big.Int).Abs(a.i))
	}
	return integer(g)
}

// round rounds halves to even, to whole numbers or to a number of decimals.
func round(args []Value) (Value, error) {
	a := args[0]
	if len(args) == 1 {
		if a.i != nil {
			return a, nil
		}
		i, _ := big.NewFloat(math.RoundToEven(a.f)).Int(nil)
		return integer(i)
	}
	d := args[1].i
	if d == nil {
		return Value{}, errors.New("the decimals of round must be an integer")
	}
	if !d.IsInt64() || d.Int64() > 400 || d.Int64() < -400 {
		return Value{}, errors.New("the decimals of round must be between -400 and 400")
	}
	n := int(d.Int64())
	switch {
	case a.i != nil && n >= 0:
		return a, nil
	case a.i != nil:
		return integer(roundTo(a.exact(), -n))
	case n >= 0:
		// Correctly rounded from the exact binary value, as Python does.
		f, err := strconv.ParseFloat(strconv.FormatFloat(a.f, 'f', n, 64), 64)
		if err != nil {
			return Value{}, errTooLarge
		}
		return real(f)
	}
	f, _ := new(big.Float).SetInt(roundTo(a.exact(), -n)).Float64()
	return real(math.Copysign(f, a.f))
}

// roundTo rounds x to a multiple of 10^n, halves to the even multiple.
func roundTo(x *big.Rat, n int) *big.Int {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
	q := new(big.Rat).Quo(x, new(big.Rat).SetInt(unit))
	k, r := new(big.Int).DivMod(q.Num(), q.Denom(), new(big.Int)) // rounds down, r >= 0
	switch twice := r.Lsh(r, 1); twice.Cmp(q.Denom()) {
	case 1:
		k.Add(k, big.NewInt(1))
	case 0:
		k.Add(k, big.NewInt(int64(k.Bit(0))))
	}
	return k.Mul(k, unit)
}
