package grpo

import (
	"fmt"

	"github.com/proctor-rl/proctor/trainer/rl"
)

// Config are the settings of GRPO.
type Config struct {
	Baseline    string             `yaml:"baseline"`     // group: mean of the group; loo: mean of the others
	Scale       string             `yaml:"scale"`        // none; group: divide by the group's deviation; batch: by the batch's
	ScaleEps    float64            `yaml:"scale_eps"`    // added to the deviation
	Ratio       string             `yaml:"ratio"`        // token: PPO; sequence: GSPO; weight: CISPO
	ClipLow     float64            `yaml:"clip_low"`     // lower clip, distance from 1
	ClipHigh    float64            `yaml:"clip_high"`    // upper clip, distance from 1
	DualClip    float64            `yaml:"dual_clip"`    // bound of the loss where the advantage is negative; 0 is off
	WeightMax   float64            `yaml:"weight_max"`   // CISPO's largest weight, absolute
	Aggregation rl.Aggregation     `yaml:"aggregation"`  // how token losses become one number
	KL          float64            `yaml:"kl"`           // weight of the KL to the frozen reference; 0 is off
	Estimator   rl.KL              `yaml:"kl_estimator"` // k2, k3 or k3_is
	Entropy     float64            `yaml:"entropy"`      // weight of the entropy bonus
	Epochs      int                `yaml:"epochs"`       // passes over a batch
	Minibatches int                `yaml:"minibatches"`  // optimizer steps in a pass
	Between     float64            `yaml:"between"`      // weight of a group's mean against the batch's: groups whose rewards agree teach too; 0 is off
	KeepZero    bool               `yaml:"keep_zero"`    // keep groups whose rewards agree: they weigh in the denominator and in the KL
	Truncated   rl.TruncatedPolicy `yaml:"truncated"`    // grade, mask or drop
	Overlong    int                `yaml:"overlong"`     // tokens before the limit over which a penalty of up to 1 builds up; 0 is off
	Old         string             `yaml:"old"`          // recompute, or sampler: trust the sampler's log-probabilities as the old ones
	Correction  rl.Correction      `yaml:"correction"`   // none, tis or mis: weigh the mismatch of sampler and trainer
	CorrectLow  float64            `yaml:"correct_low"`
	CorrectHigh float64            `yaml:"correct_high"`
	StepCredit  float64            `yaml:"step_credit"`     // weight of GiGPO's step advantages; 0 is off
	Gamma       float64            `yaml:"gamma"`           // discount per step, for step credit
	RatioTol    float64            `yaml:"ratio_tolerance"` // largest |ratio-1| accepted at the first step of an update
	MicroTokens int                `yaml:"micro_tokens"`    // tokens of one forward and backward pass
}

// Default is Dr. GRPO with an asymmetric clip.
func Default() Config {
	return Config{
		Baseline: "group", Scale: "none", ScaleEps: 1e-4, Ratio: "token",
		ClipLow: 0.2, ClipHigh: 0.28, WeightMax: 5, Aggregation: rl.SumNorm,
		Estimator: rl.K3IS, Epochs: 1, Minibatches: 1, Truncated: rl.TruncatedGrade,
		Old: "recompute", Correction: rl.CorrectNone, CorrectLow: 0.5, CorrectHigh: 2,
		Gamma: 0.95, RatioTol: 1e-4, MicroTokens: 8192,
	}
}

// Validate refuses settings that do not go together.
func (c Config) Validate() error {
	for _, f := range []struct {
		name, got string
		have      []string
	}{
		{"baseline", c.Baseline, []string{"group", "loo"}},
		{"scale", c.Scale, []string{"none", "group", "batch"}},
		{"ratio", c.Ratio, []string{"token", "sequence", "weight"}},
		{"truncated", string(c.Truncated), []string{"grade", "mask", "drop"}},
		{"old", c.Old, []string{"recompute", "sampler"}},
		{"correction", string(c.Correction), []string{"none", "tis", "mis"}},
	} {
		ok := false
		for _, h := range f.have {
			ok = ok || h == f.got
		}
		if !ok {
			return fmt.Errorf("grpo: %s %q: have %v", f.name, f.got, f.have)
		}
	}
	if err := c.Aggregation.Check(); err != nil {
		return fmt.Errorf("grpo: %w", err)
	}
	if c.KL > 0 {
		if err := c.Estimator.CheckLoss(); err != nil {
			return fmt.Errorf("grpo: %w", err)
		}
	}
	switch {
	case c.Ratio == "sequence" && c.Aggregation != rl.SeqMean:
		return fmt.Errorf("grpo: ratio sequence needs aggregation %s", rl.SeqMean)
	case c.Ratio == "sequence" && c.StepCredit != 0:
		return fmt.Errorf("grpo: a sequence ratio has no place for step_credit")
	case c.Old == "sampler" && c.Correction != rl.CorrectNone:
		return fmt.Errorf("grpo: with old: sampler the ratio already holds the mismatch; correction would count it twice")
	case c.Epochs < 1 || c.Minibatches < 1 || c.MicroTokens < 1:
		return fmt.Errorf("grpo: epochs, minibatches and micro_tokens must be at least 1")
	case c.KL < 0 || c.Between < 0 || c.ClipLow < 0 || c.ClipHigh < 0:
		return fmt.Errorf("grpo: kl, between and clips must not be negative")
	}
	return nil
}
