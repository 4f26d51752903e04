package rl_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/proctor-rl/proctor/trainer/rl"
)

// TestLeaveOneOutStdStaysBounded is B22: one lucky member among equals, and
// equal rewards that differ by float32 rounding, must not make huge numbers.
func TestLeaveOneOutStdStaysBounded(t *testing.T) {
	thirty5 := float64(float32(0.35))
	for name, r := range map[string][]float64{
		"one success":  {1, 0, 0, 0},
		"seven equal":  {thirty5, thirty5, thirty5, thirty5, thirty5, thirty5, thirty5, 0},
		"all rounding": {0.1 + 0.2, 0.3, 0.3, 0.3},
		"residue":      {.35, .35 + 1.6e-4, .35, .35, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := make([]float64, len(r))
			rl.LeaveOneOutStd(d, r, nil, 1e-2)
			for i, a := range d {
				if math.IsNaN(a) || math.Abs(a) > 100 {
					t.Errorf("advantage[%d] = %v", i, a)
				}
			}
		})
	}
	d := make([]float64, 4)
	rl.LeaveOneOutStd(d, []float64{1, 0, 0, 0}, nil, 1e-2)
	if d[0] != 1 {
		t.Errorf("lucky member has advantage %v, want its unscaled lead 1", d[0])
	}
}

// TestUnscoredMemberIsLeftOut is B23: a member that could not be scored moves
// neither the mean nor the loss, whether it comes as NaN or marked.
func TestUnscoredMemberIsLeftOut(t *testing.T) {
	want := []float64{1. / 3, 0, 1. / 3, -2. / 3}
	for name, c := range map[string]struct {
		r     []float64
		valid []bool
	}{
		"nan":    {[]float64{1, math.NaN(), 1, 0}, nil},
		"inf":    {[]float64{1, math.Inf(1), 1, 0}, nil},
		"marked": {[]float64{1, 0, 1, 0}, []bool{true, false, true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			d := make([]float64, 4)
			rl.Center(d, c.r, c.valid)
			nearAll(t, "advantage", d, want)
		})
	}
}

// TestSingletonAndRounding are P6 and P7: a group of one teaches nothing in any
// estimator, and 0.1+0.2 equals 0.3.
func TestSingletonAndRounding(t *testing.T) {
	for name, f := range estimators() {
		d := make([]float64, 1)
		f(d, []float64{0.7}, nil)
		if d[0] != 0 {
			t.Errorf("%s: singleton has advantage %v", name, d[0])
		}
		d = make([]float64, 3)
		f(d, []float64{0.1 + 0.2, 0.3, 0.3}, nil)
		for _, a := range d {
			if math.Abs(a) > 1e-9 {
				t.Errorf("%s: rounding has advantage %v", name, a)
			}
		}
	}
}

func estimators() map[string]func(dst, r []float64, valid []bool) {
	return map[string]func(dst, r []float64, valid []bool){
		"center": rl.Center,
		"loo":    rl.LeaveOneOut,
		"std":    func(d, r []float64, v []bool) { rl.Standardize(d, r, v, 1, 1e-6) },
		"loostd": func(d, r []float64, v []bool) { rl.LeaveOneOutStd(d, r, v, 1e-2) },
		"maxrl":  rl.MaxRL,
		"best":   rl.BestOfGroup,
	}
}

// FuzzAdvantages: whatever the rewards, advantages are finite, an unmeasured
// member has none, and the centred ones sum to zero.
func FuzzAdvantages(f *testing.F) {
	f.Add(uint64(1), uint8(4), uint8(0))
	f.Add(uint64(2), uint8(1), uint8(1))
	f.Add(uint64(3), uint8(8), uint8(0xff))
	f.Fuzz(func(t *testing.T, seed uint64, k, bad uint8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		r, valid := make([]float64, k%17), make([]bool, k%17)
		for i := range r {
			r[i] = []float64{0, 1, rng.Float64(), -rng.Float64() * 1e3, math.NaN(), 0.1 + 0.2, 0.3}[rng.IntN(7)]
			valid[i] = bad&(1<<(i%8)) == 0
		}
		for name, fn := range estimators() {
			d := make([]float64, len(r))
			fn(d, r, valid)
			sum, scale := 0.0, 1.0
			for i, a := range d {
				if math.IsNaN(a) || math.IsInf(a, 0) {
					t.Fatalf("%s: %v -> %v", name, r, d)
				}
				if (!valid[i] || math.IsNaN(r[i])) && a != 0 {
					t.Fatalf("%s: unmeasured member %d has %v", name, i, a)
				}
				sum += a
				scale = max(scale, math.Abs(a))
			}
			if name != "best" && name != "loostd" && math.Abs(sum) > 1e-9*scale*float64(len(r)+1) {
				t.Fatalf("%s: advantages of %v sum to %v", name, r, sum)
			}
		}
	})
}

// TestRewardScale is P19: the unscaled advantage follows the rewards' scale,
// the standardised one does not.
func TestRewardScale(t *testing.T) {
	r, r10 := []float64{1, 0, 0, 1}, []float64{10, 0, 0, 10}
	a, b := make([]float64, 4), make([]float64, 4)
	rl.Center(a, r, nil)
	rl.Center(b, r10, nil)
	near(t, "centred", b[0], 10*a[0])
	rl.Standardize(a, r, nil, 1, 0)
	rl.Standardize(b, r10, nil, 1, 0)
	near(t, "standardised", b[0], a[0])
}

// TestLossGradients compares every closed form with central differences.
func TestLossGradients(t *testing.T) {
	const h = 1e-6
	rng := rand.New(rand.NewPCG(7, 7))
	for range 500 {
		n, o, r := -3*rng.Float64(), -3*rng.Float64(), -3*rng.Float64()
		adv := rng.NormFloat64()
		clip := rl.Clip{Low: .2, High: .28, Dual: 3}
		check := func(name string, f func(x float64) float64, grad float64) {
			t.Helper()
			fd := (f(n+h) - f(n-h)) / (2 * h)
			if math.Abs(fd-grad) > 1e-5*max(1, math.Abs(grad)) {
				t.Errorf("%s at new %v old %v adv %v: gradient %v, differences %v", name, n, o, adv, grad, fd)
			}
		}
		_, g, _ := rl.PPO(adv, n, o, clip)
		check("ppo", func(x float64) float64 { l, _, _ := rl.PPO(adv, x, o, clip); return l }, g)
		_, _, w := rl.CISPO(adv, n, o, 0, 5)
		_, g, _ = rl.CISPO(adv, n, o, 0, 5)
		check("cispo", func(x float64) float64 { return -w * adv * x }, g)
		for _, k := range []rl.KL{rl.K1, rl.K2, rl.K3, rl.K3IS} {
			check(string(k), func(x float64) float64 { return k.Value(x, r, rl.Ratio(x, o)) }, k.Grad(n, r, rl.Ratio(n, o)))
		}
	}
	// GSPO, through every token of a sequence.
	newLogP, old := []float64{-.5, -1, -2, -.3}, []float64{-.6, -1.1, -1.7, -.35}
	mask := []bool{true, true, false, true}
	grad, scratch := make([]float64, 4), make([]float64, 4)
	clip := rl.Clip{Low: .5, High: .5}
	rl.GSPO(grad, -.7, newLogP, old, mask, clip)
	for i := range newLogP {
		x := append([]float64(nil), newLogP...)
		x[i] += h
		up, _, _ := rl.GSPO(scratch, -.7, x, old, mask, clip)
		x[i] -= 2 * h
		down, _, _ := rl.GSPO(scratch, -.7, x, old, mask, clip)
		if fd := (up - down) / (2 * h); math.Abs(fd-grad[i]) > 1e-6 {
			t.Errorf("gspo token %d: %v, differences %v", i, grad[i], fd)
		}
	}
	if grad[2] != 0 {
		t.Error("a masked token has gradient")
	}
}

// TestMicroBatches is P17: token weights of a batch are those of the whole
// batch, so any cut into micro-batches adds up to the same loss.
func TestMicroBatches(t *testing.T) {
	chosen := []int{3, 5, 0, 7, 1}
	for _, a := range []rl.Aggregation{rl.TokenMean, rl.SeqMean, rl.SeqSum, rl.SumNorm} {
		w := a.Weights(chosen, 10)
		whole, parts := 0.0, 0.0
		for i, n := range chosen {
			whole += w[i] * float64(n) * float64(i+1)
		}
		for _, cut := range [][2]int{{0, 2}, {2, 3}, {3, 5}} {
			for i := cut[0]; i < cut[1]; i++ {
				parts += w[i] * float64(chosen[i]) * float64(i+1)
			}
		}
		if math.Abs(whole-parts) > 1e-15 {
			t.Errorf("%s: %v in parts, %v whole", a, parts, whole)
		}
		if w[2] != 0 {
			t.Errorf("%s: an empty sequence has weight %v", a, w[2])
		}
	}
	if rl.Aggregation("mean").Check() == nil {
		t.Error("unknown aggregation accepted")
	}
}

// TestPairedBootstrap: identical policies differ by nothing, a better one on
// every task is better in every resample.
func TestPairedBootstrap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	a := []float64{0, 1, 0, 1, 1, 0}
	diff, lo, hi, p := rl.PairedBootstrap(a, a, 200, rng)
	if diff != 0 || lo != 0 || hi != 0 || math.Abs(p-1) > 1e-9 {
		t.Errorf("same policy: %v [%v, %v] p %v", diff, lo, hi, p)
	}
	b := []float64{1, 2, 1, 2, 2, 1}
	diff, lo, _, p = rl.PairedBootstrap(a, b, 200, rng)
	if math.Abs(diff-1) > 1e-12 || lo < 0.99 || p != 0 {
		t.Errorf("better policy: %v from %v p %v", diff, lo, p)
	}
}

// TestAlarmConstant is the trainer's half of B10.
func TestAlarmConstant(t *testing.T) {
	v := [][]bool{{true, true}, {true, true}}
	if !rl.AlarmConstant([][]float64{{1, 1}, {1, 1}}, v) || rl.AlarmConstant([][]float64{{1, 1}, {0, 1}}, v) {
		t.Error("constant rewards must raise the alarm and others must not")
	}
}

// TestBetween by hand: means 0, 1 and 0.5 of two, three and two counted returns
// beside 4/7; what could not be graded moves nothing, and a group without a
// counted return has none.
func TestBetween(t *testing.T) {
	got := rl.Between(
		[][]float64{{0, 0, 9}, {1, 1, 1}, {0, 1}, {math.NaN()}},
		[][]bool{{true, true, false}, {true, true, true}, {true, true}, {true}},
	)
	want := []float64{-4. / 7, 3. / 7, -1. / 14, 0}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("group %d: %v, want %v", i, got[i], want[i])
		}
	}
	// With weight 1 it makes the baseline of the batch out of that of the group.
	r := [][]float64{{0, 1, 1}, {0, 0, 1}}
	lead := rl.Between(r, nil)
	for g := range r {
		adv := make([]float64, 3)
		rl.Center(adv, r[g], nil)
		for k := range adv {
			if math.Abs(adv[k]+lead[g]-(r[g][k]-.5)) > 1e-12 {
				t.Errorf("group %d: advantage %v", g, adv)
			}
		}
	}
}
