package sft

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/proctor-rl/proctor/trainer/optim"
	"github.com/proctor-rl/proctor/trainer/policy"
)

// Config are the settings of the warm start.
type Config struct {
	Steps       int     `yaml:"steps"`        // optimizer steps
	Batch       int     `yaml:"batch"`        // demonstrations in a step
	CopySteps   int     `yaml:"copy_steps"`   // steps of the copying warm-up before the demonstrations
	CopyBatch   int     `yaml:"copy_batch"`   // sequences in a copying step
	ShortFirst  float64 `yaml:"short_first"`  // share of the steps over which longer demonstrations come in
	MicroTokens int     `yaml:"micro_tokens"` // tokens of one forward and backward pass
}

// Default is no warm start.
func Default() Config {
	return Config{Batch: 8, CopyBatch: 16, ShortFirst: 0.25, MicroTokens: 8192}
}

// Validate refuses impossible settings.
func (c Config) Validate() error {
	if c.Steps < 0 || c.CopySteps < 0 || c.Batch < 1 || c.CopyBatch < 1 || c.MicroTokens < 1 || c.ShortFirst < 0 || c.ShortFirst > 1 {
		return fmt.Errorf("sft: need steps, copy_steps >= 0, batch, copy_batch, micro_tokens >= 1 and short_first in [0,1]")
	}
	return nil
}

// Example is one demonstration: its tokens and which of them are actions.
type Example struct {
	Tokens []int32
	Mask   []bool
}

// Plan is the order in which demonstrations are used. It depends on the
// lengths, the seed and the settings only, so that a step can be made without
// those before it.
type Plan struct {
	cfg      Config
	seed     uint64
	examples []Example
	byLength []int // indices, shortest first
	shuffled []int
	epoch    int
}

// NewPlan is a plan over examples, of which there must be some.
func NewPlan(cfg Config, examples []Example, seed uint64) (*Plan, error) {
	if len(examples) == 0 {
		return nil, fmt.Errorf("sft: no demonstrations")
	}
	p := &Plan{cfg: cfg, seed: seed, examples: examples, epoch: -1}
	p.byLength = make([]int, len(examples))
	for i := range p.byLength {
		p.byLength[i] = i
	}
	slices.SortStableFunc(p.byLength, func(a, b int) int {
		return cmp.Compare(len(examples[a].Tokens), len(examples[b].Tokens))
	})
	return p, nil
}

// At are the demonstrations of a step. During the first ShortFirst of the steps
// they are drawn from the shortest quarter at first and from all at the end;
// then every demonstration comes once in each pass, in an order of its own.
func (p *Plan) At(step int) []Example {
	n, b := len(p.examples), p.cfg.Batch
	out := make([]Example, 0, b)
	if short := int(p.cfg.ShortFirst * float64(p.cfg.Steps)); step < short {
		rng := rand.New(rand.NewPCG(p.seed, 1+uint64(step)))
		limit := max(min(n, 4*b), int(float64(n)*(0.25+0.75*float64(step)/float64(short))))
		for range b {
			out = append(out, p.examples[p.byLength[rng.IntN(limit)]])
		}
		return out
	}
	for k := range b {
		at := step*b + k
		if e := at / n; e != p.epoch {
			p.shuffled, p.epoch = rand.New(rand.NewPCG(p.seed, 1<<32+uint64(e))).Perm(n), e
		}
		out = append(out, p.examples[p.shuffled[at%n]])
	}
	return out
}

// Step is one optimizer step on the mean negative log-likelihood of the chosen
// tokens. It returns that mean before the step and the number of all tokens.
func Step(p policy.Trainable, opt *optim.Stepper, batch []Example, microTokens int) (loss float64, tokens int, err error) {
	ts, need := make([][]int32, len(batch)), make([][]bool, len(batch))
	for i, e := range batch {
		ts[i], need[i] = e.Tokens, e.Mask
		tokens += len(e.Tokens)
	}
	loss, err = Likelihood(p, opt, policy.Pack(ts, need, microTokens, 1))
	return loss, tokens, err
}

// Likelihood is Step on batches that are already packed.
func Likelihood(p policy.Trainable, opt *optim.Stepper, packs []*policy.Packed) (loss float64, err error) {
	n := 0
	for _, b := range packs {
		for _, m := range b.Need {
			if m {
				n++
			}
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("sft: a batch without a chosen token")
	}
	w := float32(-1 / float64(n))
	for _, b := range packs {
		p.Accumulate(&b.Batch, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				b.DLogP[i], b.DEntropy[i] = 0, 0
				if b.Need[i] {
					b.DLogP[i] = w
				}
			}
		})
		for i, m := range b.Need {
			if m {
				loss -= float64(b.LogP[i]) / float64(n)
			}
		}
	}
	_, _, err = opt.Step(p.Params(), p.Grads())
	return loss, err
}
