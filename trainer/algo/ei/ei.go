package ei

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/proctor-rl/proctor/trainer/optim"
	"github.com/proctor-rl/proctor/trainer/policy"
	"github.com/proctor-rl/proctor/trainer/rl"
)

// Config are the settings of expert iteration.
type Config struct {
	Threshold   float64 `yaml:"threshold"`    // return from which an episode is a success
	PerTask     int     `yaml:"per_task"`     // most successes of one task; 0 is no limit
	Epochs      int     `yaml:"epochs"`       // passes over the successes
	Minibatches int     `yaml:"minibatches"`  // optimizer steps in a pass
	MicroTokens int     `yaml:"micro_tokens"` // tokens of one forward and backward pass
}

// Default keeps every distinct full success.
func Default() Config {
	return Config{Threshold: 1, Epochs: 1, Minibatches: 1, MicroTokens: 8192}
}

// Validate refuses impossible settings.
func (c Config) Validate() error {
	if c.PerTask < 0 || c.Epochs < 1 || c.Minibatches < 1 || c.MicroTokens < 1 {
		return fmt.Errorf("ei: need per_task >= 0 and epochs, minibatches, micro_tokens >= 1")
	}
	return nil
}

// EI is the algorithm on one policy.
type EI struct {
	cfg    Config
	policy policy.Trainable
	step   *optim.Stepper
}

// New is expert iteration on p.
func New(cfg Config, p policy.Trainable, step *optim.Stepper) *EI {
	return &EI{cfg: cfg, policy: p, step: step}
}

// Update implements algo.Algorithm.
func (e *EI) Update(seed, update uint64, groups []rl.Group) (rl.Stats, error) {
	// 1. Keep the distinct successes of each task.
	var tokens [][]int32
	var need [][]bool
	total := 0
	for i := range groups {
		seen := map[string]bool{}
		for k := range groups[i].Members {
			t := &groups[i].Members[k]
			if !t.Valid {
				continue
			}
			total++
			key := string(bytesOf(t.Tokens))
			if t.Reward < e.cfg.Threshold || seen[key] || e.cfg.PerTask > 0 && len(seen) >= e.cfg.PerTask {
				continue
			}
			seen[key] = true
			tokens, need = append(tokens, t.Tokens), append(need, t.Mask)
		}
	}
	stats := rl.Stats{"samples": float64(len(tokens)), "yield": float64(len(tokens)) / float64(max(total, 1))}
	if len(tokens) == 0 {
		return stats, nil
	}

	// 2. Maximise their likelihood, token mean.
	rng := rand.New(rand.NewPCG(seed, update))
	loss, entropy, count, norm, lr := 0.0, 0.0, 0.0, 0.0, 0.0
	for range e.cfg.Epochs {
		for _, chosen := range policy.Minibatches(rng, len(tokens), e.cfg.Minibatches) {
			var ts [][]int32
			var ns [][]bool
			n := 0
			for _, i := range chosen {
				ts, ns = append(ts, tokens[i]), append(ns, need[i])
				for _, c := range need[i] {
					if c {
						n++
					}
				}
			}
			if n == 0 {
				continue
			}
			w := float32(-1 / float64(n))
			for _, b := range policy.Pack(ts, ns, e.cfg.MicroTokens, 1) {
				e.policy.Accumulate(&b.Batch, func(lo, hi int) {
					for i := lo; i < hi; i++ {
						b.DLogP[i], b.DEntropy[i] = 0, 0
						if b.Need[i] {
							b.DLogP[i] = w
						}
					}
				})
				for i, want := range b.Need {
					if want {
						loss -= float64(b.LogP[i])
						entropy += float64(b.Entropy[i])
						count++
					}
				}
			}
			g, rate, err := e.step.Step(e.policy.Params(), e.policy.Grads())
			if err != nil {
				return nil, fmt.Errorf("ei update %d: %w", update, err)
			}
			norm, lr = max(norm, g), rate
		}
	}
	stats["loss_nll"], stats["entropy"] = loss/count, entropy/count
	stats["grad_norm"], stats["lr"] = norm, lr
	return stats, nil
}

// bytesOf is the tokens as bytes, to tell equal episodes apart from others.
func bytesOf(tokens []int32) []byte {
	out := make([]byte, 0, 4*len(tokens))
	for _, t := range tokens {
		out = binary.LittleEndian.AppendUint32(out, uint32(t))
	}
	return out
}
