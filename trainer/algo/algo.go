package algo

import (
	"fmt"

	"github.com/proctor-rl/proctor/trainer/algo/ei"
	"github.com/proctor-rl/proctor/trainer/algo/grpo"
	"github.com/proctor-rl/proctor/trainer/algo/reinforce"
	"github.com/proctor-rl/proctor/trainer/optim"
	"github.com/proctor-rl/proctor/trainer/policy"
	"github.com/proctor-rl/proctor/trainer/rl"
)

// Algorithm learns from the groups of one update.
type Algorithm interface {
	// Update makes the optimizer steps of one batch. update counts from 1 and,
	// with the seed of the run, is all that its randomness depends on. An
	// error leaves the run without a trustworthy policy: the trainer stops.
	Update(seed, update uint64, groups []rl.Group) (rl.Stats, error)
}

// Config chooses an algorithm and holds the settings of each.
type Config struct {
	Name      string           `yaml:"name"` // grpo, reinforce, ei
	GRPO      grpo.Config      `yaml:"grpo"`
	Reinforce reinforce.Config `yaml:"reinforce"`
	EI        ei.Config        `yaml:"ei"`
}

// Default is the configuration before a recipe changes it.
func Default() Config {
	return Config{Name: "grpo", GRPO: grpo.Default(), Reinforce: reinforce.Default(), EI: ei.Default()}
}

// Names lists the algorithms.
func Names() []string { return []string{"grpo", "reinforce", "ei"} }

// Validate refuses an unknown name and impossible settings.
func (c Config) Validate() error {
	switch c.Name {
	case "grpo":
		return c.GRPO.Validate()
	case "reinforce":
		return c.Reinforce.Validate()
	case "ei":
		return c.EI.Validate()
	}
	return fmt.Errorf("unknown algorithm %q: have %v", c.Name, Names())
}

// NeedsReference reports whether the algorithm compares with a frozen copy of
// the policy it started from.
func (c Config) NeedsReference() bool { return c.Name == "grpo" && c.GRPO.KL > 0 }

// New is the chosen algorithm on a policy. reference may be nil unless
// NeedsReference. temperature is the one that episodes are sampled at, length
// the longest sequence.
func New(c Config, p, reference policy.Trainable, step *optim.Stepper, temperature float64, length int) (Algorithm, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	switch c.Name {
	case "reinforce":
		return reinforce.New(c.Reinforce, p, step, temperature, length), nil
	case "ei":
		return ei.New(c.EI, p, step), nil
	}
	if c.NeedsReference() && reference == nil {
		return nil, fmt.Errorf("grpo with a KL term needs a reference policy")
	}
	return grpo.New(c.GRPO, p, reference, step, temperature, length), nil
}
