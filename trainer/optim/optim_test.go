package optim_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/proctor-rl/proctor/trainer/optim"
)

// TestGoldenAdamW follows three updates worked out by a second implementation:
// clipping, moments, bias correction and decoupled decay.
func TestGoldenAdamW(t *testing.T) {
	data, err := os.ReadFile("testdata/adamw.json")
	if err != nil {
		t.Fatal(err)
	}
	var g struct {
		Theta0  []float32
		LR      float64
		Betas   [2]float64
		Decay   float64 `json:"weight_decay_decoupled"`
		MaxNorm float64 `json:"max_grad_norm"`
		Steps   []struct {
			Grad, Clipped, Theta []float32
			Norm                 float64 `json:"grad_norm_preclip"`
		}
	}
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Steps) != 3 {
		t.Fatalf("%d steps in the golden file", len(g.Steps))
	}
	a := optim.NewAdamW(2, optim.AdamConfig{Beta1: g.Betas[0], Beta2: g.Betas[1], Eps: 1e-8, Decay: g.Decay}, []optim.Range{{Lo: 0, Hi: 2}})
	theta := g.Theta0
	for n, s := range g.Steps {
		norm := optim.Clip(s.Grad, g.MaxNorm)
		if math.Abs(norm-s.Norm) > 2e-6 {
			t.Errorf("step %d: norm %v, want %v", n, norm, s.Norm)
		}
		for i := range s.Grad {
			if math.Abs(float64(s.Grad[i]-s.Clipped[i])) > 2e-6 {
				t.Errorf("step %d: clipped %v, want %v", n, s.Grad, s.Clipped)
			}
		}
		a.Update(theta, s.Grad, g.LR)
		for i := range theta {
			if math.Abs(float64(theta[i]-s.Theta[i])) > 2e-6 {
				t.Errorf("step %d: theta %v, want %v", n, theta, s.Theta)
			}
		}
	}
}

func TestDecayOnlyWhereTold(t *testing.T) {
	a := optim.NewAdamW(2, optim.AdamConfig{Beta1: .9, Beta2: .99, Eps: 1e-8, Decay: .5}, []optim.Range{{Lo: 0, Hi: 1}})
	p := []float32{1, 1}
	a.Update(p, []float32{0, 0}, .1)
	if p[0] != .95 || p[1] != 1 {
		t.Errorf("after decay %v", p)
	}
}

func TestSchedule(t *testing.T) {
	s := optim.Schedule{Base: 1, Shape: "cosine", Warmup: 10, Total: 100, Floor: .1}
	for _, c := range []struct {
		u    int
		want float64
	}{{0, .1}, {100, .1}, {1000, .1}, {50, .55}} {
		if got := s.At(c.u); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("cosine at %d = %v, want %v", c.u, got, c.want)
		}
	}
	s.Shape = "linear"
	if got := s.At(50); math.Abs(got-.55) > 1e-9 {
		t.Errorf("linear at 50 = %v", got)
	}
	s.Shape = "constant"
	if s.At(50) != 1 {
		t.Error("constant moves")
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	s.Shape = "step"
	if s.Check() == nil {
		t.Error("unknown shape accepted")
	}
}
