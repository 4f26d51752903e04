package optim

import (
	"fmt"
	"math"
)

// Schedule is a learning rate over updates: a linear warm-up, then constant,
// cosine or linear down to Floor times Base.
type Schedule struct {
	Base   float64
	Shape  string // constant, cosine, linear
	Warmup int    // updates
	Total  int    // updates at which the floor is reached
	Floor  float64
}

// Check refuses an unknown shape and impossible numbers.
func (s Schedule) Check() error {
	switch s.Shape {
	case "constant", "cosine", "linear":
	default:
		return fmt.Errorf("unknown schedule %q: have constant, cosine, linear", s.Shape)
	}
	if !(s.Base > 0) || s.Warmup < 0 || s.Floor < 0 || s.Floor > 1 {
		return fmt.Errorf("schedule needs base > 0, warmup >= 0 and 0 <= floor <= 1")
	}
	return nil
}

// At is the learning rate of update u, counted from 0.
func (s Schedule) At(u int) float64 {
	lr := s.Base
	if s.Total > 0 && s.Shape != "constant" {
		x := min(1, float64(u)/float64(s.Total))
		f := 1 - x
		if s.Shape == "cosine" {
			f = 0.5 * (1 + math.Cos(math.Pi*x))
		}
		lr *= s.Floor + (1-s.Floor)*f
	}
	if u < s.Warmup {
		lr *= float64(u+1) / float64(s.Warmup)
	}
	return lr
}
