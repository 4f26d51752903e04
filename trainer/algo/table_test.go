package algo_test

import (
	"math"

	"github.com/proctor-rl/proctor/trainer/algo"
	"github.com/proctor-rl/proctor/trainer/optim"
	"github.com/proctor-rl/proctor/trainer/policy"
	"github.com/proctor-rl/proctor/trainer/rl"
)

// table is a policy in float64 whose token t is drawn from one row of logits,
// whatever came before. It is small enough to check by hand and by differences.
type table struct {
	rows, vocab int
	params      []float32
	grads       []float32
}

func newTable(vocab int) *table {
	return &table{rows: 1, vocab: vocab, params: make([]float32, vocab), grads: make([]float32, vocab)}
}

func (p *table) Params() []float32 { return p.params }
func (p *table) Grads() []float32  { return p.grads }
func (p *table) Tensors() []policy.Tensor {
	return []policy.Tensor{{Name: "logits", Hi: p.vocab, Shape: []int{p.vocab}}}
}

func (p *table) logits(temperature float32) (lp []float64, entropy float64) {
	t := float64(temperature)
	if t == 0 {
		t = 1
	}
	sum := 0.0
	for _, x := range p.params {
		sum += math.Exp(float64(x) / t)
	}
	for _, x := range p.params {
		l := float64(x)/t - math.Log(sum)
		lp = append(lp, l)
		entropy -= math.Exp(l) * l
	}
	return lp, entropy
}

func (p *table) LogProbs(b *policy.Batch) {
	lp, h := p.logits(b.Temperature)
	for i, tok := range b.Tokens {
		b.LogP[i], b.Entropy[i] = 0, 0
		if b.Need[i] {
			b.LogP[i], b.Entropy[i] = float32(lp[tok]), float32(h)
		}
	}
}

func (p *table) Accumulate(b *policy.Batch, grad func(lo, hi int)) {
	p.LogProbs(b)
	grad(0, len(b.Tokens))
	lp, h := p.logits(b.Temperature)
	for i, tok := range b.Tokens {
		if !b.Need[i] {
			continue
		}
		for j := range p.params {
			d := -math.Exp(lp[j])
			if int32(j) == tok {
				d++
			}
			p.grads[j] += float32(float64(b.DLogP[i])*d - float64(b.DEntropy[i])*math.Exp(lp[j])*(lp[j]+h))
		}
	}
}

func stepper(p policy.Trainable, lr float64) *optim.Stepper {
	return &optim.Stepper{
		Adam:     optim.NewAdamW(len(p.Params()), optim.AdamConfig{Beta1: .9, Beta2: .999, Eps: 1e-8}, nil),
		Schedule: optim.Schedule{Base: lr, Shape: "constant"},
	}
}

// episode is a prompt token and one chosen token.
func episode(p *table, token int32, reward float64, valid bool) rl.Trajectory {
	lp, _ := p.logits(1)
	return rl.Trajectory{
		Tokens: []int32{0, token}, Mask: []bool{false, true}, LogP: []float32{0, float32(lp[token])},
		Steps: []rl.Step{{End: 2, Reward: reward}}, Reward: reward, Passed: reward == 1, Valid: valid,
	}
}

func configs() map[string]algo.Config {
	out := map[string]algo.Config{}
	for _, name := range algo.Names() {
		c := algo.Default()
		c.Name = name
		out[name] = c
	}
	for name, edit := range map[string]func(*algo.Config){
		"grpo-std":  func(c *algo.Config) { c.GRPO.Scale = "group"; c.GRPO.Aggregation = rl.TokenMean },
		"grpo-loo":  func(c *algo.Config) { c.GRPO.Baseline = "loo" },
		"gspo":      func(c *algo.Config) { c.GRPO.Ratio = "sequence"; c.GRPO.Aggregation = rl.SeqMean },
		"cispo":     func(c *algo.Config) { c.GRPO.Ratio = "weight" },
		"grpo-kl":   func(c *algo.Config) { c.GRPO.KL = 0.01 },
		"grpo-mu":   func(c *algo.Config) { c.GRPO.Epochs, c.GRPO.Minibatches = 2, 2 },
		"rf-group":  func(c *algo.Config) { c.Name = "reinforce"; c.Reinforce.Baseline = "group" },
		"rf-run":    func(c *algo.Config) { c.Name = "reinforce"; c.Reinforce.Baseline = "running" },
		"rf-whiten": func(c *algo.Config) { c.Name = "reinforce"; c.Reinforce.Whiten = true },
	} {
		c := algo.Default()
		edit(&c)
		out[name] = c
	}
	return out
}
