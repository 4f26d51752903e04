package calc

import (
	"errors"
	"math"
	"math/big"
)

// maxBits bounds every integer. It is also what makes each operation cheap.
const maxBits = 4096

var (
	errTooLarge  = errors.New("the result is too large")
	errZero      = errors.New("division by zero is undefined")
	errUndefined = errors.New("the result is undefined")
)

// integer and real check what every result must satisfy.
func integer(i *big.Int) (Value, error) {
	if i.BitLen() > maxBits {
		return Value{}, errTooLarge
	}
	return Value{i: i}, nil
}

func real(f float64) (Value, error) {
	switch {
	case math.IsNaN(f):
		return Value{}, errUndefined
	case math.IsInf(f, 0):
		return Value{}, errTooLarge
	}
	return Value{f: f}, nil
}

// binary applies one operator.
func binary(op string, a, b Value) (Value, error) {
	if a.i != nil && b.i != nil {
		return integers(op, a.i, b.i)
	}
	x, err := a.float()
	if err != nil {
		return Value{}, err
	}
	y, err := b.float()
	if err != nil {
		return Value{}, err
	}
	return floats(op, x, y)
}

func integers(op string, a, b *big.Int) (Value, error) {
	switch op {
	case "+":
		return integer(new(big.Int).Add(a, b))
	case "-":
		return integer(new(big.Int).Sub(a, b))
	case "*":
		if a.BitLen()+b.BitLen() > maxBits+1 {
			return Value{}, errTooLarge
		}
		return integer(new(big.Int).Mul(a, b))
	case "**":
		return powInt(a, b)
	}
	if b.Sign() == 0 {
		return Value{}, errZero
	}
	switch op {
	case "/":
		// The quotient is rounded once, as Python does, not both operands first.
		f, _ := new(big.Rat).SetFrac(a, b).Float64()
		if f == 0 && b.Sign() < 0 && a.Sign() >= 0 {
			f = math.Copysign(0, -1) // 0/-3 is -0.0
		}
		return real(f)
	case "//":
		q, _ := floorDiv(a, b)
		return integer(q)
	default:
		_, r := floorDiv(a, b)
		return integer(r)
	}
}

// floorDiv is the quotient rounded towards minus infinity, and the rest with
// the sign of b.
func floorDiv(a, b *big.Int) (q, r *big.Int) {
	q, r = new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Sign() != 0 && r.Sign() != b.Sign() {
		q.Sub(q, big.NewInt(1))
		r.Add(r, b)
	}
	return q, r
}

func powInt(a, b *big.Int) (Value, error) {
	if b.Sign() < 0 {
		if a.Sign() == 0 {
			return Value{}, errZero
		}
		x, err := Value{i: a}.float()
		if err != nil {
			return Value{}, err
		}
		y, err := Value{i: b}.float()
		if err != nil {
			return Value{}, err
		}
		return real(power(x, y))
	}
	// 0, 1 and -1 have cheap powers whatever the exponent.
	if a.BitLen() <= 1 {
		odd := b.Bit(0) == 1
		switch {
		case b.Sign() == 0:
			return integer(big.NewInt(1))
		case a.Sign() >= 0 || odd:
			return integer(new(big.Int).Set(a))
		}
		return integer(big.NewInt(1))
	}
	// The power has more than (bits-1)*b bits: refuse before computing it.
	if !b.IsInt64() || b.Int64() > maxBits || int64(a.BitLen()-1)*b.Int64() > maxBits {
		return Value{}, errTooLarge
	}
	return integer(new(big.Int).Exp(a, b, nil))
}

func floats(op string, x, y float64) (Value, error) {
	switch op {
	case "+":
		return real(x + y)
	case "-":
		return real(x - y)
	case "*":
		return real(x * y)
	case "**":
		switch {
		case x == 0 && y < 0:
			return Value{}, errZero
		case x < 0 && y != math.Trunc(y):
			return Value{}, errUndefined
		}
		return real(power(x, y))
	}
	if y == 0 {
		return Value{}, errZero
	}
	switch op {
	case "/":
		return real(x / y)
	case "//":
		q, _ := floorDivFloat(x, y)
		return real(q)
	default:
		_, r := floorDivFloat(x, y)
		return real(r)
	}
}

// floorDivFloat follows CPython's float divmod: the rest is exact and takes
// the sign of y, the quotient is then made whole.
func floorDivFloat(x, y float64) (q, r float64) {
	r = math.Mod(x, y)
	q = (x - r) / y
	if r != 0 {
		if (y < 0) != (r < 0) {
			r += y
			q--
		}
	} else {
		r = math.Copysign(0, y)
	}
	if q == 0 {
		return math.Copysign(0, x/y), r
	}
	whole := math.Floor(q)
	if q-whole > 0.5 {
		whole++
	}
	return whole, r
}
