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
	Name      string           `yaml:"name"` // a name of the table
	GRPO      grpo.Config      `yaml:"grpo"`
	Reinforce reinforce.Config `yaml:"reinforce"`
	EI        ei.Config        `yaml:"ei"`
}

// Default is the configuration before a recipe changes it.
func Default() Config {
	return Config{Name: "grpo", GRPO: grpo.Default(), Reinforce: reinforce.Default(), EI: ei.Default()}
}

// line is an algorithm in the table: its name in recipes, what refuses its
// settings, and what makes it.
type line struct {
	name     string
	validate func(Config) error
	make     func(Config, parts) Algorithm
}

// parts are what an algorithm may be made of.
type parts struct {
	policy, reference policy.Trainable
	step              *optim.Stepper
	temperature       float64
	length            int
}

// table is the only list of algorithms.
func table() []line {
	return []line{
		{"grpo", func(c Config) error { return c.GRPO.Validate() }, func(c Config, p parts) Algorithm {
			return grpo.New(c.GRPO, p.policy, p.reference, p.step, p.temperature, p.length)
		}},
		{"reinforce", func(c Config) error { return c.Reinforce.Validate() }, func(c Config, p parts) Algorithm {
			return reinforce.New(c.Reinforce, p.policy, p.step, p.temperature, p.length)
		}},
		{"ei", func(c Config) error { return c.EI.Validate() }, func(c Config, p parts) Algorithm {
			return ei.New(c.EI, p.policy, p.step)
		}},
	}
}

// Names lists the algorithms.
func Names() []string {
	var names []string
	for _, l := range table() {
		names = append(names, l.name)
	}
	return names
}

// find is the chosen line of the table.
func (c Config) find() (line, error) {
	for _, l := range table() {
		if l.name == c.Name {
			return l, nil
		}
	}
	return line{}, fmt.Errorf("unknown algorithm %q: have %v", c.Name, Names())
}

// Validate refuses an unknown name and impossible settings.
func (c Config) Validate() error {
	l, err := c.find()
	if err != nil {
		return err
	}
	return l.validate(c)
}

// NeedsReference reports whether the algorithm compares with a frozen copy of
// the policy it started from.
func (c Config) NeedsReference() bool { return c.Name == "grpo" && c.GRPO.KL > 0 }

// New is the chosen algorithm on a policy. reference may be nil unless
// NeedsReference. temperature is the one that episodes are sampled at, length
// the longest sequence.
func New(c Config, p, reference policy.Trainable, step *optim.Stepper, temperature float64, length int) (Algorithm, error) {
	l, err := c.find()
	if err != nil {
		return nil, err
	}
	if err := l.validate(c); err != nil {
		return nil, err
	}
	if c.NeedsReference() && reference == nil {
		return nil, fmt.Errorf("%s with a KL term needs a reference policy", c.Name)
	}
	return l.make(c, parts{policy: p, reference: reference, step: step, temperature: temperature, length: length}), nil
}
