package calc

import (
	"math"
	"math/big"
)

// power is x to the y, correctly rounded, as good C libraries are but for one
// case in thousands and math.Pow is not: a later "%" or floor blows the last
// bit up.
func power(x, y float64) float64 {
	const small = 256
	switch {
	case x == 0 || y == 0 || math.Abs(x) == 1:
		return math.Pow(x, y)
	case y == math.Trunc(y) && math.Abs(y) <= small:
		return powWhole(x, int(y))
	}
	if l := y * math.Log2(math.Abs(x)); l > 1100 || l < -1200 { // far out of range: infinity or 0
		return math.Pow(x, y)
	}
	f, _ := bigExp(new(big.Float).Mul(number256(y), bigLog(math.Abs(x)))).Float64()
	if x < 0 && math.Mod(y, 2) != 0 {
		f = -f // y is whole: the caller refuses other powers of negatives
	}
	return f
}

// powWhole multiplies out.
func powWhole(x float64, y int) float64 {
	r, base := number256(1), number256(x)
	for n := max(y, -y); n > 0; n >>= 1 {
		if n&1 == 1 {
			r.Mul(r, base)
		}
		base.Mul(base, base)
	}
	if y < 0 {
		r.Quo(number256(1), r)
	}
	f, _ := r.Float64()
	return f
}

// number256 is f with 256 bits, so that the error of a hundred operations stays
// far below the last bit of a float.
func number256(f float64) *big.Float { return new(big.Float).SetPrec(256).SetFloat64(f) }

// ln2 is the natural logarithm of 2.
func ln2() *big.Float {
	l, ok := number256(0).SetString("0.69314718055994530941723212145817656807550013436025525412068000949339362196969471560586332699641868754")
	if !ok {
		panic("calc: bad constant") // it is a literal
	}
	return l
}

// bigLog is the natural logarithm of x > 0: of x = m*2^e with m near 1,
// e*ln 2 + 2*atanh((m-1)/(m+1)), the latter by its series.
func bigLog(x float64) *big.Float {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	z := number256(m)
	z.Quo(new(big.Float).Sub(z, number256(1)), new(big.Float).Add(z, number256(1)))
	sq := new(big.Float).Mul(z, z) // below 0.03: 5 bits a term
	sum, term := number256(0), number256(0).Set(z)
	for k := 1; k < 100; k += 2 {
		sum.Add(sum, new(big.Float).Quo(term, number256(float64(k))))
		term.Mul(term, sq)
	}
	sum.Mul(sum, number256(2))
	return sum.Add(sum, new(big.Float).Mul(number256(float64(e)), ln2()))
}

// bigExp is e to the t: 2^n * exp(r/256)^256 with t = n*ln 2 + r, the
// exponential by its series.
func bigExp(t *big.Float) *big.Float {
	ratio, _ := new(big.Float).Quo(t, ln2()).Float64()
	n := math.Round(ratio)
	r := new(big.Float).Sub(t, new(big.Float).Mul(number256(n), ln2()))
	r.Quo(r, number256(256)) // below 0.0014: more than 9 bits a term
	sum, term := number256(1), number256(1)
	for k := 1; k < 22; k++ {
		term.Quo(new(big.Float).Mul(term, r), number256(float64(k)))
		sum.Add(sum, term)
	}
	for range 8 {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, int(n))
}
