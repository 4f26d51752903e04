package grpo

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/proctor-rl/proctor/trainer/optim"
	"github.com/proctor-rl/proctor/trainer/policy"
	"github.com/proctor-rl/proctor/trainer/rl"
)

// GRPO is the algorithm on one policy.
type GRPO struct {
	cfg         Config
	policy      policy.Trainable
	reference   policy.Trainable
	step        *optim.Stepper
	temperature float32
	length      int
}

// New is GRPO on p with settings that Validate accepts. reference is needed
// with a KL term and must own its parameters. length is the longest sequence,
// which normalises the summed loss.
func New(cfg Config, p, reference policy.Trainable, step *optim.Stepper, temperature float64, length int) *GRPO {
	return &GRPO{cfg: cfg, policy: p, reference: reference, step: step, temperature: float32(temperature), length: length}
}

// sample is one trajectory in an update with everything that stays constant
// during it.
type sample struct {
	tokens  []int32
	mask    []bool
	sampler []float32 // log-probabilities of the program that sampled
	old     []float32 // of the policy before the update, by the program that trains
	ref     []float32 // of the reference
	adv     []float64 // for each token
}

// Update implements algo.Algorithm.
func (g *GRPO) Update(seed, update uint64, groups []rl.Group) (rl.Stats, error) {
	// 1. Compare each episode with its group.
	samples, stats := g.advantages(groups)
	if len(samples) == 0 {
		return stats, nil
	}

	// 2. The log-probabilities that the ratio and the KL refer to. They are
	// computed once and never touched again.
	if g.cfg.Old == "sampler" {
		for _, s := range samples {
			s.old = s.sampler
		}
	} else {
		g.logProbs(samples, g.policy, func(s *sample) *[]float32 { return &s.old })
	}
	if g.cfg.KL > 0 {
		g.logProbs(samples, g.reference, func(s *sample) *[]float32 { return &s.ref })
	}

	// 3. Passes over the batch in minibatches, one optimizer step each.
	var meter rl.Meter
	steps, norm, lr := 0, 0.0, 0.0
	rng := rand.New(rand.NewPCG(seed, update))
	for epoch := range g.cfg.Epochs {
		for m, chosen := range policy.Minibatches(rng, len(samples), g.cfg.Minibatches) {
			var part []*sample
			for _, i := range chosen {
				part = append(part, samples[i])
			}
			if len(part) == 0 {
				continue
			}
			if err := g.accumulate(part, &meter, epoch == 0 && m == 0); err != nil {
				return nil, err
			}
			n, rate, err := g.step.Step(g.policy.Params(), g.policy.Grads())
			if err != nil {
				return nil, fmt.Errorf("grpo update %d: %w", update, err)
			}
			steps++
			norm, lr = max(norm, n), rate
		}
	}
	for k, v := range meter.Stats() {
		stats[k] = v
	}
	stats["loss_pg"] /= float64(steps)
	stats["loss_kl"] /= float64(steps)
	stats["grad_norm"] = norm
	stats["lr"] = lr
	return stats, nil
}

// advantages turns groups into the samples worth an update.
func (g *GRPO) advantages(groups []rl.Group) ([]*sample, rl.Stats) {
	c := g.cfg
	var rewards [][]float64
	var valids [][]bool
	for i := range groups {
		r, v := groups[i].Rewards()
		for k := range r {
			t := &groups[i].Members[k]
			if c.Overlong > 0 {
				r[k] += rl.OverlongPenalty(len(t.Tokens), g.length, c.Overlong)
			}
			if c.Truncated == rl.TruncatedDrop && t.Truncated {
				v[k] = false
			}
		}
		rewards, valids = append(rewards, r), append(valids, v)
	}
	batchStd := rl.BatchStd(rewards, valids)
	lead := make([]float64, len(groups))
	if c.Between > 0 {
		lead = rl.Between(rewards, valids)
	}

	var samples []*sample
	kept, smallest, absMax := 0, math.MaxInt, 0.0
	for i := range groups {
		r, valid := rewards[i], valids[i]
		adv := make([]float64, len(r))
		switch {
		case c.Scale == "group":
			rl.Standardize(adv, r, valid, 1, c.ScaleEps)
		case c.Baseline == "loo":
			rl.LeaveOneOut(adv, r, valid)
		default:
			rl.Center(adv, r, valid)
		}
		spread := rl.Spread(r, valid)
		size := 0
		for _, v := range valid {
			if v {
				size++
			}
		}
		smallest = min(smallest, size)
		if spread {
			kept++
		}
		steps := g.stepAdvantages(groups[i].Members)
		for k := range groups[i].Members {
			t := &groups[i].Members[k]
			if !valid[k] || !spread && !c.KeepZero && c.Between == 0 || t.Truncated && c.Truncated == rl.TruncatedMask {
				continue
			}
			a, between := adv[k], c.Between*lead[i]
			switch c.Scale {
			case "group":
				a += between / (batchStd + c.ScaleEps)
			case "batch":
				a = (a + between) / (batchStd + c.ScaleEps)
			default:
				a += between
			}
			absMax = max(absMax, math.Abs(a))
			s := &sample{tokens: t.Tokens, mask: t.Mask, sampler: t.LogP, adv: make([]float64, len(t.Tokens))}
			step := 0
			for i := range s.adv {
				for step < len(t.Steps) && i >= t.Steps[step].End {
					step++
				}
				s.adv[i] = a
				if steps != nil && step < len(steps[k]) {
					s.adv[i] += c.StepCredit * steps[k][step]
				}
			}
			samples = append(samples, s)
		}
	}
	stats := rl.Stats{
		"frac_zero_std":  1 - float64(kept)/float64(max(len(groups), 1)),
		"group_size_min": float64(smallest), "advantage_absmax": absMax, "samples": float64(len(samples)),
	}
	if rl.AlarmConstant(rewards, valids) {
		stats["alarm_constant_reward"] = 1
	}
	return samples, stats
}

// stepAdvantages are GiGPO's, nil where they are off or the server names no
// states.
func (g *GRPO) stepAdvantages(members []rl.Trajectory) [][]float64 {
	if g.cfg.StepCredit == 0 {
		return nil
	}
	keys, returns := make([][]string, len(members)), make([][]float64, len(members))
	for i, t := range members {
		if !t.Valid {
			continue
		}
		r := make([]float64, len(t.Steps))
		for k, s := range t.Steps {
			if s.StateKey == "" {
				return nil
			}
			keys[i] = append(keys[i], s.StateKey)
			r[k] = s.Reward
		}
		returns[i] = make([]float64, len(r))
		rl.ReturnsToGo(returns[i], r, g.cfg.Gamma)
	}
	return rl.AnchorAdvantages(keys, returns, g.cfg.Scale == "group", g.cfg.ScaleEps)
}

func (g *GRPO) pack(samples []*sample) []*policy.Packed {
	tokens, need := make([][]int32, len(samples)), make([][]bool, len(samples))
	for i, s := range samples {
		tokens[i], need[i] = s.tokens, s.mask
	}
	return policy.Pack(tokens, need, g.cfg.MicroTokens, g.temperature)
}

// logProbs fills one log-probability slice of each sample from p.
func (g *GRPO) logProbs(samples []*sample, p policy.Trainable, field func(*sample) *[]float32) {
	for _, b := range g.pack(samples) {
		p.LogProbs(&b.Batch)
		b.Sequences(0, len(b.Tokens), func(seq, lo, hi int) { *field(samples[seq]) = b.LogP[lo:hi:hi] })
	}
}

// accumulate adds the gradient of one minibatch. first says that the policy has
// not moved yet in this update, so that every ratio has to be 1.
func (g *GRPO) accumulate(part []*sample, meter *rl.Meter, first bool) error {
	chosen := make([]int, len(part))
	for i, s := range part {
		for _, m := range s.mask {
			if m {
				chosen[i]++
			}
		}
	}
	weights := g.cfg.Aggregation.Weights(chosen, float64(g.length))
	clip := rl.Clip{Low: g.cfg.ClipLow, High: g.cfg.ClipHigh, Dual: g.cfg.DualClip}
	for _, b := range g.pack(part) {
		g.policy.Accumulate(&b.Batch, func(lo, hi int) {
			b.Sequences(lo, hi, func(seq, lo, hi int) { g.gradient(b, part[seq], weights[seq], lo, hi, clip, nil) })
		})
		// The figures are gathered afterwards, in order, because shards run at
		// the same time.
		b.Sequences(0, len(b.Tokens), func(seq, lo, hi int) { g.gradient(b, part[seq], weights[seq], lo, hi, clip, meter) })
		if first {
			if err := g.ratioIsOne(b, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// gradient writes dLoss/dlogp and dLoss/dentropy of one sequence, which lies at
// [lo,hi) of b, and counts its figures if meter is not nil.
func (g *GRPO) gradient(b *policy.Packed, s *sample, weight float64, lo, hi int, clip rl.Clip, meter *rl.Meter) {
	c := g.cfg
	var seqGrad []float64
	var seqLoss float64
	var seqSide rl.Side
	if c.Ratio == "sequence" {
		n := hi - lo
		seqGrad = make([]float64, n)
		now, old := make([]float64, n), make([]float64, n)
		adv := 0.0
		tokens := 0
		for i := range n {
			now[i], old[i] = float64(b.LogP[lo+i]), float64(s.old[i])
			if s.mask[i] {
				adv = s.adv[i]
				tokens++
			}
		}
		seqLoss, _, seqSide = rl.GSPO(seqGrad, adv, now, old, s.mask, clip)
		// Weights are per token under seq-mean-token-mean; the sequence's own
		// is that times its tokens, and its gradient is already divided.
		weight *= float64(max(tokens, 1))
	}
	for i := lo; i < hi; i++ {
		t := i - lo
		if !s.mask[t] {
			b.DLogP[i], b.DEntropy[i] = 0, 0
			continue
		}
		now, old := float64(b.LogP[i]), float64(s.old[t])
		var loss, grad float64
		side := rl.Inside
		switch c.Ratio {
		case "sequence":
			loss, grad, side = seqLoss, seqGrad[t], seqSide
		case "weight":
			loss, grad, _ = rl.CISPO(s.adv[t], now, old, 0, c.WeightMax)
		default:
			loss, grad, side = rl.PPO(s.adv[t], now, old, clip)
		}
		w := c.Correction.Weight(old, float64(s.sampler[t]), c.CorrectLow, c.CorrectHigh)
		loss, grad = loss*w, grad*w
		kl := 0.0
		if c.KL > 0 {
			rho := rl.Ratio(now, old)
			kl = c.KL * c.Estimator.Value(now, float64(s.ref[t]), rho)
			grad += c.KL * c.Estimator.Grad(now, float64(s.ref[t]), rho)
		}
		b.DLogP[i] = float32(weight * grad)
		b.DEntropy[i] = float32(-c.Entropy * weight)
		if meter != nil {
			meter.Policy(now, old, side, clip)
			meter.Sampler(old, float64(s.sampler[t]))
			meter.Loss(weight*loss, weight*kl, float64(b.Entropy[i]))
		}
	}
}

// ratioIsOne is the check that catches most mistakes of a trainer in one line:
// before the first step, the policy that trains is the policy that sampled.
func (g *GRPO) ratioIsOne(b *policy.Packed, part []*sample) error {
	worst := 0.0
	b.Sequences(0, len(b.Tokens), func(seq, lo, hi int) {
		for i := lo; i < hi; i++ {
			if b.Need[i] {
				d := math.Abs(rl.Ratio(float64(b.LogP[i]), float64(part[seq].old[i-lo])) - 1)
				if math.IsNaN(d) {
					d = math.Inf(1)
				}
				worst = max(worst, d)
			}
		}
	})
	if worst > g.cfg.RatioTol {
		return fmt.Errorf("grpo: ratio differs from 1 by %.3g before the first step of an update: the tokens, the temperature or the weights that sampled are not the ones that train", worst)
	}
	return nil
}
