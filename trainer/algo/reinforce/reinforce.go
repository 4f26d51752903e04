package reinforce

import (
	"fmt"
	"math"

	"github.com/proctor-rl/proctor/trainer/optim"
	"github.com/proctor-rl/proctor/trainer/policy"
	"github.com/proctor-rl/proctor/trainer/rl"
)

// Config are the settings of REINFORCE.
type Config struct {
	Baseline    string         `yaml:"baseline"`    // none, running, batch, group
	Decay       float64        `yaml:"decay"`       // of the running mean
	Whiten      bool           `yaml:"whiten"`      // divide advantages by the batch's deviation
	Aggregation rl.Aggregation `yaml:"aggregation"` // how token losses become one number
	Entropy     float64        `yaml:"entropy"`     // weight of the entropy bonus
	MicroTokens int            `yaml:"micro_tokens"`
}

// Default compares with the batch's mean.
func Default() Config {
	return Config{Baseline: "batch", Decay: 0.9, Aggregation: rl.SumNorm, MicroTokens: 8192}
}

// Validate refuses impossible settings.
func (c Config) Validate() error {
	switch c.Baseline {
	case "none", "running", "batch", "group":
	default:
		return fmt.Errorf("reinforce: baseline %q: have none, running, batch, group", c.Baseline)
	}
	if c.Decay < 0 || c.Decay >= 1 || c.MicroTokens < 1 {
		return fmt.Errorf("reinforce: need 0 <= decay < 1 and micro_tokens >= 1")
	}
	return c.Aggregation.Check()
}

// Reinforce is the algorithm on one policy.
type Reinforce struct {
	cfg         Config
	policy      policy.Trainable
	step        *optim.Stepper
	temperature float32
	length      int

	running float64 // baseline of earlier batches
	seen    bool
}

// New is REINFORCE on p.
func New(cfg Config, p policy.Trainable, step *optim.Stepper, temperature float64, length int) *Reinforce {
	return &Reinforce{cfg: cfg, policy: p, step: step, temperature: float32(temperature), length: length}
}

// State is what a checkpoint must hold beside parameters and optimizer.
func (r *Reinforce) State() []float64 {
	if !r.seen {
		return nil
	}
	return []float64{r.running}
}

// SetState restores what State returned.
func (r *Reinforce) SetState(s []float64) {
	r.seen = len(s) > 0
	if r.seen {
		r.running = s[0]
	}
}

// Update implements algo.Algorithm.
func (r *Reinforce) Update(_, update uint64, groups []rl.Group) (rl.Stats, error) {
	// 1. Advantages: the return against the chosen baseline.
	var tokens [][]int32
	var need [][]bool
	var sampler [][]float32
	var adv []float64
	var returns [][]float64
	var valids [][]bool
	mean, n := 0.0, 0
	for i := range groups {
		ret, valid := groups[i].Rewards()
		returns, valids = append(returns, ret), append(valids, valid)
		for k, v := range valid {
			if v {
				mean += ret[k]
				n++
			}
		}
	}
	if n == 0 {
		return rl.Stats{"samples": 0}, nil
	}
	mean /= float64(n)
	baseline := 0.0
	switch {
	case r.cfg.Baseline == "batch":
		baseline = mean
	case r.cfg.Baseline == "running" && r.seen:
		baseline = r.running
	}
	for i := range groups {
		group := make([]float64, len(returns[i]))
		if r.cfg.Baseline == "group" {
			rl.Center(group, returns[i], valids[i])
		}
		for k := range groups[i].Members {
			if !valids[i][k] {
				continue
			}
			t := &groups[i].Members[k]
			a := returns[i][k] - baseline
			if r.cfg.Baseline == "group" {
				a = group[k]
			}
			tokens, need, sampler, adv = append(tokens, t.Tokens), append(need, t.Mask), append(sampler, t.LogP), append(adv, a)
		}
	}
	// Scoring comes before the running mean moves, or the baseline would
	// depend on the returns it is subtracted from.
	if r.seen {
		r.running = r.cfg.Decay*r.running + (1-r.cfg.Decay)*mean
	} else {
		r.running, r.seen = mean, true
	}
	if r.cfg.Whiten {
		if _, std := rl.MeanStd(adv, 1); std > 0 {
			for i := range adv {
				adv[i] /= std + 1e-8
			}
		}
	}

	// 2. One step on -A logp.
	chosen := make([]int, len(need))
	for i := range need {
		for _, m := range need[i] {
			if m {
				chosen[i]++
			}
		}
	}
	weights := r.cfg.Aggregation.Weights(chosen, float64(r.length))
	var meter rl.Meter
	absMax := 0.0
	for _, a := range adv {
		absMax = max(absMax, math.Abs(a))
	}
	for _, b := range policy.Pack(tokens, need, r.cfg.MicroTokens, r.temperature) {
		r.policy.Accumulate(&b.Batch, func(lo, hi int) {
			b.Sequences(lo, hi, func(seq, lo, hi int) {
				for i := lo; i < hi; i++ {
					b.DLogP[i], b.DEntropy[i] = 0, 0
					if b.Need[i] {
						_, g := rl.Reinforce(adv[seq], float64(b.LogP[i]), 1)
						b.DLogP[i] = float32(g * weights[seq])
						b.DEntropy[i] = float32(-r.cfg.Entropy * weights[seq])
					}
				}
			})
		})
		b.Sequences(0, len(b.Tokens), func(seq, lo, hi int) {
			for i := lo; i < hi; i++ {
				if b.Need[i] {
					lp := float64(b.LogP[i])
					l, _ := rl.Reinforce(adv[seq], lp, 1)
					meter.Policy(lp, lp, rl.Inside, rl.Clip{})
					meter.Sampler(lp, float64(sampler[seq][i-lo]))
					meter.Loss(l*weights[seq], 0, float64(b.Entropy[i]))
				}
			}
		})
	}
	norm, lr, err := r.step.Step(r.policy.Params(), r.policy.Grads())
	if err != nil {
		return nil, fmt.Errorf("reinforce update %d: %w", update, err)
	}
	stats := meter.Stats()
	stats["grad_norm"], stats["lr"], stats["baseline"] = norm, lr, baseline
	stats["samples"], stats["advantage_absmax"] = float64(len(adv)), absMax
	return stats, nil
}
