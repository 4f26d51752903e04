package vec

import "math"

// Sum returns the sum of x.
func Sum(x []float32) float32 {
	if fast {
		return sumKernel(first(x), len(x))
	}
	var s float64
	for _, v := range x {
		s += float64(v)
	}
	return float32(s)
}

// Dot returns the sum of x[i]*y[i].
func Dot(x, y []float32) float32 {
	same(len(x), len(y))
	if fast {
		return dotKernel(first(x), first(y), len(x))
	}
	var s float64
	for i, v := range x {
		s += float64(v) * float64(y[i])
	}
	return float32(s)
}

// SumSquares returns the sum of x[i]*x[i], added in float64: the squared norm
// of a gradient, say.
func SumSquares(x []float32) float64 {
	if fast {
		return squaresKernel(first(x), len(x))
	}
	var s float64
	for _, v := range x {
		s += float64(v) * float64(v)
	}
	return s
}

// Max returns the largest element of x that is not NaN, -Inf where there is
// none.
func Max(x []float32) float32 {
	if fast {
		return maxKernel(first(x), len(x))
	}
	top := float32(math.Inf(-1))
	for _, v := range x {
		if v > top {
			top = v
		}
	}
	return top
}

// squaredDistance returns the sum of (x[i]-mean)^2.
func squaredDistance(x []float32, mean float32) float32 {
	if fast {
		return devKernel(first(x), mean, len(x))
	}
	var s float64
	for _, v := range x {
		d := float64(v) - float64(mean)
		s += d * d
	}
	return float32(s)
}
