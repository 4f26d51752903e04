package optim

import (
	"errors"
	"math"
)

// ErrNotFinite means that a gradient was not a number: the parameters are left
// as they were.
var ErrNotFinite = errors.New("optim: gradient is not finite")

// Stepper is an optimizer with its schedule and its gradient clipping.
type Stepper struct {
	Adam     *AdamW
	Schedule Schedule
	ClipNorm float64 // 0 is off
}

// Step clips grads, updates params with the schedule's rate and clears grads.
// It returns the norm before clipping and the rate.
func (s *Stepper) Step(params, grads []float32) (norm, lr float64, err error) {
	norm = Clip(grads, s.ClipNorm)
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		clear(grads)
		return norm, 0, ErrNotFinite
	}
	lr = s.Schedule.At(s.Adam.T)
	s.Adam.Update(params, grads, lr)
	clear(grads)
	return norm, lr, nil
}
