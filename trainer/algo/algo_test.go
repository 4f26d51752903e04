package algo_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/trainer/algo"
	"github.com/proctor-rl/proctor/trainer/algo/sft"
	"github.com/proctor-rl/proctor/trainer/rl"
)

// TestBandit: every algorithm finds the better of three arms from a fixed seed.
func TestBandit(t *testing.T) {
	for name, c := range configs() {
		t.Run(name, func(t *testing.T) {
			p, ref := newTable(4), newTable(4)
			a, err := algo.New(c, p, ref, stepper(p, .1), 1, 2)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 1))
			for u := range 100 {
				var groups []rl.Group
				for range 4 {
					g := rl.Group{}
					for range 8 {
						lp, _ := p.logits(1)
						x, tok := rng.Float64(), int32(3)
						for j, l := range lp {
							if x -= math.Exp(l); x < 0 {
								tok = int32(j)
								break
							}
						}
						r := 0.0
						if tok == 2 {
							r = 1
						}
						g.Members = append(g.Members, episode(p, tok, r, true))
					}
					groups = append(groups, g)
				}
				if _, err := a.Update(1, uint64(u+1), groups); err != nil {
					t.Fatal(err)
				}
			}
			lp, _ := p.logits(1)
			if got := math.Exp(lp[2]); got < 0.9 {
				t.Errorf("the paying arm has probability %.3f after 100 updates", got)
			}
		})
	}
}

// TestHandComputedStep follows one GRPO step on paper: two episodes, rewards 1
// and 0, advantages +-1/2, three equal logits, sum over 2 sequences and length
// 2. dLoss/dlogit of the winner is -1/2*(1/4)*(1-1/3) + 1/2*(1/4)*(-1/3).
func TestHandComputedStep(t *testing.T) {
	p := newTable(3)
	c := algo.Default()
	s := stepper(p, .1)
	a, err := algo.New(c, p, nil, s, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	stats, err := a.Update(1, 1, []rl.Group{{Members: []rl.Trajectory{episode(p, 0, 1, true), episode(p, 1, 0, true)}}})
	if err != nil {
		t.Fatal(err)
	}
	want := 0.125 * math.Sqrt(2)
	if got := stats["grad_norm"]; math.Abs(got-want) > 1e-6 {
		t.Errorf("gradient norm %v, want %v", got, want)
	}
	// Adam's first step has the size of the rate against each gradient's sign.
	for i, want := range []float64{.1, -.1, 0} {
		if math.Abs(float64(p.params[i])-want) > 1e-4 {
			t.Errorf("logit %d = %v, want %v", i, p.params[i], want)
		}
	}
}

// TestExcludedEpisodesTeachNothing covers B23 and P12: adding an episode that
// our side failed to grade changes no parameter, whatever reward it carries.
func TestExcludedEpisodesTeachNothing(t *testing.T) {
	for name, c := range configs() {
		t.Run(name, func(t *testing.T) {
			run := func(extra ...rl.Trajectory) []float32 {
				p := newTable(4)
				a, err := algo.New(c, p, newTable(4), stepper(p, .1), 1, 2)
				if err != nil {
					t.Fatal(err)
				}
				m := append([]rl.Trajectory{episode(p, 0, 1, true), episode(p, 1, 0, true), episode(p, 2, 0, true)}, extra...)
				if _, err := a.Update(1, 1, []rl.Group{{Members: m}}); err != nil {
					t.Fatal(err)
				}
				return p.params
			}
			p := newTable(4)
			without, with := run(), run(episode(p, 3, 1, false), episode(p, 3, math.NaN(), false))
			if fmt.Sprint(without) != fmt.Sprint(with) {
				t.Errorf("parameters %v without, %v with excluded episodes", without, with)
			}
		})
	}
}

// TestMaskedTokensHaveNoGradient covers P3 and P26: tokens that the policy did
// not choose can be anything, with any stored log-probability, and the update
// is the same.
func TestMaskedTokensHaveNoGradient(t *testing.T) {
	for name, c := range configs() {
		t.Run(name, func(t *testing.T) {
			run := func(observation int32, junk float32) []float32 {
				p := newTable(4)
				a, err := algo.New(c, p, newTable(4), stepper(p, .1), 1, 4)
				if err != nil {
					t.Fatal(err)
				}
				lp, _ := p.logits(1)
				long := func(tok int32, r float64) rl.Trajectory {
					return rl.Trajectory{
						Tokens: []int32{0, tok, observation, tok}, Mask: []bool{false, true, false, true},
						LogP: []float32{junk, float32(lp[tok]), junk, float32(lp[tok])}, Reward: r, Passed: r == 1, Valid: true,
					}
				}
				if _, err := a.Update(1, 1, []rl.Group{{Members: []rl.Trajectory{long(1, 1), long(2, 0)}}}); err != nil {
					t.Fatal(err)
				}
				return p.params
			}
			a, b := run(0, 0), run(3, float32(math.NaN()))
			if fmt.Sprint(a) != fmt.Sprint(b) {
				t.Errorf("parameters %v and %v differ by a masked token", a, b)
			}
		})
	}
}

// TestRatioIsOne: a policy that is not the one that sampled is refused, also
// when only the temperature differs.
func TestRatioIsOne(t *testing.T) {
	c := algo.Default()
	c.GRPO.Old = "sampler"
	p := newTable(3)
	p.params[0] = 1
	group := []rl.Group{{Members: []rl.Trajectory{episode(p, 0, 1, true), episode(p, 1, 0, true)}}}
	for name, f := range map[string]func() error{
		"moved": func() error {
			q := newTable(3)
			a, err := algo.New(c, q, nil, stepper(q, .1), 1, 2)
			if err != nil {
				return err
			}
			_, err = a.Update(1, 1, group)
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), "ratio") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	a, err := algo.New(c, p, nil, stepper(p, .1), 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Update(1, 1, group); err != nil {
		t.Errorf("the sampling policy itself is refused: %v", err)
	}
}

// TestMicroBatchesDoNotMatter is P17 through whole updates.
func TestMicroBatchesDoNotMatter(t *testing.T) {
	run := func(micro int) []float32 {
		c := algo.Default()
		c.GRPO.MicroTokens = micro
		p := newTable(4)
		a, err := algo.New(c, p, nil, stepper(p, .1), 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		g := rl.Group{}
		for i := range 6 {
			g.Members = append(g.Members, episode(p, int32(i%4), float64(i%2), true))
		}
		if _, err := a.Update(1, 1, []rl.Group{g}); err != nil {
			t.Fatal(err)
		}
		return p.params
	}
	a, b := run(2), run(1000)
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 1e-5 {
			t.Errorf("logit %d: %v in micro-batches, %v at once", i, a[i], b[i])
		}
	}
}

// TestKLMovesZeroVarianceGroups: with KeepZero the KL term pulls a policy that
// left its reference back although the rewards say nothing; P13 besides: the
// reference is untouched.
func TestKLMovesZeroVarianceGroups(t *testing.T) {
	c := algo.Default()
	c.GRPO.KL, c.GRPO.KeepZero = 1, true
	p, ref := newTable(3), newTable(3)
	p.params[0] = 1
	a, err := algo.New(c, p, ref, stepper(p, .01), 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	stats, err := a.Update(1, 1, []rl.Group{{Members: []rl.Trajectory{episode(p, 0, 1, true), episode(p, 0, 1, true)}}})
	if err != nil {
		t.Fatal(err)
	}
	if stats["loss_kl"] <= 0 || p.params[0] >= 1 {
		t.Errorf("KL loss %v moved the logit to %v", stats["loss_kl"], p.params[0])
	}
	for _, x := range ref.params {
		if x != 0 {
			t.Error("the reference moved")
		}
	}
}

// TestBetweenTeachesGroupsThatAgree: of two groups that each earned one reward,
// GRPO learns nothing; with Between the choice of the group that failed as one
// becomes less likely and that of the other more, in every form of scaling.
func TestBetweenTeachesGroupsThatAgree(t *testing.T) {
	for _, scale := range []string{"none", "group", "batch"} {
		for _, between := range []float64{0, .5} {
			c := algo.Default()
			c.GRPO.Scale, c.GRPO.Between = scale, between
			p := newTable(3)
			a, err := algo.New(c, p, nil, stepper(p, .1), 1, 2)
			if err != nil {
				t.Fatal(err)
			}
			group := func(tok int32, r float64) rl.Group {
				return rl.Group{Members: []rl.Trajectory{episode(p, tok, r, true), episode(p, tok, r, true), episode(p, tok, 7, false)}}
			}
			stats, err := a.Update(1, 1, []rl.Group{group(0, 0), group(1, 1)})
			if err != nil {
				t.Fatal(err)
			}
			moved := p.params[0] < 0 && p.params[1] > 0
			if moved != (between > 0) || between == 0 && stats["samples"] != 0 {
				t.Errorf("scale %s, between %v: logits %v after %v samples", scale, between, p.params, stats["samples"])
			}
		}
	}
}

// TestConfigsThatDoNotGoTogether are refused at the start.
func TestConfigsThatDoNotGoTogether(t *testing.T) {
	for name, edit := range map[string]func(*algo.Config){
		"unknown name":           func(c *algo.Config) { c.Name = "ppo2" },
		"gspo with token mean":   func(c *algo.Config) { c.GRPO.Ratio = "sequence" },
		"k1 as a loss":           func(c *algo.Config) { c.GRPO.KL, c.GRPO.Estimator = .1, rl.K1 },
		"correction twice":       func(c *algo.Config) { c.GRPO.Old, c.GRPO.Correction = "sampler", rl.CorrectTruncate },
		"negative between":       func(c *algo.Config) { c.GRPO.Between = -1 },
		"no epochs":              func(c *algo.Config) { c.GRPO.Epochs = 0 },
		"unknown baseline":       func(c *algo.Config) { c.Name, c.Reinforce.Baseline = "reinforce", "median" },
		"ei without minibatches": func(c *algo.Config) { c.Name, c.EI.Minibatches = "ei", 0 },
	} {
		c := algo.Default()
		edit(&c)
		if c.Validate() == nil {
			t.Errorf("%s accepted", name)
		}
	}
}

// TestSFT: the warm start raises the likelihood of the actions and never that
// of what is only context; its plan uses every demonstration once in a pass.
func TestSFT(t *testing.T) {
	p := newTable(4)
	data := []sft.Example{{Tokens: []int32{0, 2, 3}, Mask: []bool{false, true, false}}, {Tokens: []int32{0, 2}, Mask: []bool{false, true}}}
	s := stepper(p, .1)
	first, last := 0.0, 0.0
	for i := range 50 {
		loss, n, err := sft.Step(p, s, data, 100)
		if err != nil || n != 5 {
			t.Fatalf("step: %v, %d tokens", err, n)
		}
		if i == 0 {
			first = loss
		}
		last = loss
	}
	if math.Abs(first-math.Log(4)) > 1e-6 || last > 0.1 {
		t.Errorf("loss from %v to %v", first, last)
	}
	if p.params[3] > p.params[2] {
		t.Error("a context token was learned")
	}
	if _, _, err := sft.Step(p, s, []sft.Example{{Tokens: []int32{1}, Mask: []bool{false}}}, 100); err == nil {
		t.Error("a batch without actions was accepted")
	}
	var many []sft.Example
	for i := range 12 {
		many = append(many, sft.Example{Tokens: make([]int32, i+1), Mask: make([]bool, i+1)})
	}
	plan, err := sft.NewPlan(sft.Config{Steps: 10, Batch: 4}, many, 1)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]int{}
	for step := range 3 {
		for _, e := range plan.At(step) {
			seen[len(e.Tokens)]++
		}
	}
	if len(seen) != 12 {
		t.Errorf("a pass used %d of 12 demonstrations", len(seen))
	}
}
