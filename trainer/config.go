package trainer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/proctor-rl/proctor/trainer/algo"
	"github.com/proctor-rl/proctor/trainer/algo/sft"
	"github.com/proctor-rl/proctor/trainer/optim"
	"github.com/proctor-rl/proctor/trainer/policy"
)

// Config is everything that decides a run except where the server is.
type Config struct {
	Name   string       `yaml:"name"`
	Seed   uint64       `yaml:"seed"`
	Env    EnvConfig    `yaml:"env"`
	Policy PolicyConfig `yaml:"policy"`
	SFT    SFTConfig    `yaml:"sft"`
	RL     RLConfig     `yaml:"rl"`
	Eval   EvalConfig   `yaml:"eval"`
	Output OutputConfig `yaml:"output"`
}

// EnvConfig says what is played.
type EnvConfig struct {
	Type       string `yaml:"type"`       // environment type on the server
	Train      string `yaml:"train"`      // split that updates draw tasks from
	Validation string `yaml:"validation"` // split that the best policy is chosen on
	Test       string `yaml:"test"`       // split that results are reported on
	Live       int    `yaml:"live"`       // episodes at once
	Retries    int    `yaml:"retries"`    // further attempts when our side failed
	MaxSteps   int    `yaml:"max_steps"`  // actions in an episode; 0 is the type's default
}

// PolicyConfig is the policy's kind and shape.
type PolicyConfig struct {
	Kind        string                   `yaml:"kind"`        // transformer or mlp
	Vocab       int                      `yaml:"vocab"`       // size of the tokenizer
	VocabDemos  int                      `yaml:"vocab_demos"` // demonstrations it is trained on
	MaxAction   int                      `yaml:"max_action"`  // tokens of one action
	Templates   string                   `yaml:"templates"`   // what an mlp chooses among: text or code
	Transformer policy.TransformerConfig `yaml:"transformer"`
	MLP         policy.MLPConfig         `yaml:"mlp"`
}

// AdamConfig is an optimizer and its schedule.
type AdamConfig struct {
	LR       float64 `yaml:"lr"`
	Shape    string  `yaml:"shape"`     // constant, cosine, linear
	Warmup   int     `yaml:"warmup"`    // optimizer steps
	Floor    float64 `yaml:"floor"`     // share of lr at the end
	Beta1    float64 `yaml:"beta1"`     //
	Beta2    float64 `yaml:"beta2"`     //
	Eps      float64 `yaml:"eps"`       //
	Decay    float64 `yaml:"decay"`     // weight decay of matrices
	ClipNorm float64 `yaml:"clip_norm"` // 0 is off
}

// SFTConfig is the warm start.
type SFTConfig struct {
	sft.Config `yaml:",inline"`
	Adam       AdamConfig `yaml:"adam"`
	Demos      int        `yaml:"demos"`        // episodes that the command has "proctor demos" write where no file is named
	Noise      float64    `yaml:"noise"`        // how often their demonstrator errs
	Success    bool       `yaml:"success_only"` // leave demonstrations out that earned less than 1
	Limit      int        `yaml:"limit"`        // most demonstrations; 0 is all
}

// RLConfig is the reinforcement learning.
type RLConfig struct {
	Updates     int         `yaml:"updates"`
	Tasks       int         `yaml:"tasks"`       // in an update
	Group       int         `yaml:"group"`       // episodes of each
	Temperature float64     `yaml:"temperature"` // of sampling
	MaxSeconds  float64     `yaml:"max_seconds"` // stop after so much time in updates; 0 is off
	Average     bool        `yaml:"average"`     // judge and keep the mean of the policies since the warm start
	Adam        AdamConfig  `yaml:"adam"`
	Algo        algo.Config `yaml:"algo"`
}

// EvalConfig says when and how the policy is judged.
type EvalConfig struct {
	Every      int     `yaml:"every"`      // updates between evaluations on validation; 0 is never
	Validation int     `yaml:"validation"` // tasks of each slice there
	Test       int     `yaml:"test"`       // tasks of each slice before the first and after the last update
	Skip       int     `yaml:"skip"`       // test tasks of each slice to leave out first: those that a recipe was chosen on
	Samples    int     `yaml:"samples"`    // episodes of a task at temperature 1
	KeepBest   string  `yaml:"keep_best"`  // off, or what the best policy is chosen by: greedy, sampled, both
	Target     float64 `yaml:"target"`     // stop when keep_best's figure reaches it; 0 is off
}

// OutputConfig says what a run leaves behind.
type OutputConfig struct {
	Checkpoint int `yaml:"checkpoint"` // updates between checkpoints
	Keep       int `yaml:"keep"`       // checkpoints kept beside the best
	Samples    int `yaml:"samples"`    // episodes written at each evaluation
	Rollouts   int `yaml:"rollouts"`   // updates between written training groups; 0 is never
}

// Default is the configuration before a recipe.
func Default() Config {
	adam := AdamConfig{LR: 3e-4, Shape: "constant", Warmup: 5, Floor: 0.05, Beta1: 0.9, Beta2: 0.98, Eps: 1e-8, ClipNorm: 1}
	warm := adam
	warm.LR, warm.Shape, warm.Warmup, warm.Decay = 3e-3, "cosine", 60, 0.01
	return Config{
		Name: "run", Seed: 1,
		Env: EnvConfig{Train: "train", Validation: "validation", Test: "test", Live: 128, Retries: 2},
		Policy: PolicyConfig{
			Kind: "transformer", Vocab: 512, VocabDemos: 1500, MaxAction: 64, Templates: "text",
			Transformer: policy.TransformerConfig{Context: 256, Dim: 96, Layers: 3, Heads: 6, Smear: true, Mimetic: true},
			MLP:         policy.MLPConfig{Buckets: 8192, Hidden: 32},
		},
		SFT:    SFTConfig{Config: sft.Default(), Adam: warm, Demos: 20000, Noise: 0.2},
		RL:     RLConfig{Updates: 100, Tasks: 24, Group: 8, Temperature: 1, Adam: adam, Algo: algo.Default()},
		Eval:   EvalConfig{Every: 10, Validation: 100, Test: 200, Samples: 1, KeepBest: "both"},
		Output: OutputConfig{Checkpoint: 10, Keep: 2, Samples: 5, Rollouts: 0},
	}
}

// ReadConfig reads a recipe over the defaults. A key that does not exist is an
// error.
func ReadConfig(path string, set []string) (Config, error) {
	c := Default()
	data, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("read recipe: %w", err)
	}
	if err := decode(data, &c); err != nil {
		return c, fmt.Errorf("recipe %s: %w", path, err)
	}
	for _, s := range set {
		if err := c.Set(s); err != nil {
			return c, err
		}
	}
	return c, c.Validate()
}

func decode(data []byte, c *Config) error {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var more yaml.Node
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return errors.New("something follows the first document")
	}
	return nil
}

// Set changes one key, written a.b=c with a YAML value.
func (c *Config) Set(assignment string) error {
	path, value, ok := strings.Cut(assignment, "=")
	if !ok || path == "" {
		return fmt.Errorf("--set %q: want key.key=value", assignment)
	}
	var b strings.Builder
	keys := strings.Split(path, ".")
	for i, k := range keys {
		b.WriteString(strings.Repeat("  ", i) + k + ":")
		if i < len(keys)-1 {
			b.WriteByte('\n')
		}
	}
	b.WriteString(" " + value + "\n")
	if err := decode([]byte(b.String()), c); err != nil {
		return fmt.Errorf("--set %s: %w", assignment, err)
	}
	return nil
}

// YAML is the whole configuration as a recipe.
func (c Config) YAML() ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(c); err != nil {
		return nil, fmt.Errorf("write configuration: %w", err)
	}
	return b.Bytes(), nil
}

// Validate refuses what cannot run.
func (c Config) Validate() error {
	switch {
	case c.Env.Type == "":
		return errors.New("env.type is empty: name an environment type of the server")
	case c.Env.Live < 1 || c.Env.Retries < 0 || c.Env.MaxSteps < 0:
		return errors.New("env.live must be at least 1, env.retries and env.max_steps not negative")
	case c.Policy.Kind != "transformer" && c.Policy.Kind != "mlp":
		return fmt.Errorf("policy.kind %q: have transformer, mlp", c.Policy.Kind)
	case c.Policy.Templates != "text" && c.Policy.Templates != "code":
		return fmt.Errorf("policy.templates %q: have text, code", c.Policy.Templates)
	case c.Policy.Kind == "mlp" && c.SFT.Steps+c.SFT.CopySteps > 0:
		return errors.New("policy.kind mlp chooses among templates and has no warm start: set sft.steps to 0")
	case c.Policy.Kind == "mlp" && c.RL.Algo.Name == "ei":
		return errors.New("policy.kind mlp does not go with ei, which trains on text")
	case c.RL.Updates < 0 || c.RL.Tasks < 1 || c.RL.Group < 1:
		return errors.New("rl.updates must not be negative, rl.tasks and rl.group at least 1")
	case c.RL.Group < 2 && c.RL.Algo.Name == "grpo":
		return errors.New("grpo compares the members of a group: rl.group must be at least 2")
	case c.RL.Temperature <= 0:
		return errors.New("rl.temperature must be positive")
	case c.RL.Algo.Name == "ei" && c.RL.Temperature != 1:
		return errors.New("ei trains at temperature 1: set rl.temperature to 1")
	case c.Eval.Every < 0 || c.Eval.Validation < 0 || c.Eval.Test < 0 || c.Eval.Skip < 0 || c.Eval.Samples < 1:
		return errors.New("eval counts must not be negative and eval.samples at least 1")
	case c.Eval.KeepBest != "off" && c.Eval.KeepBest != "greedy" && c.Eval.KeepBest != "sampled" && c.Eval.KeepBest != "both":
		return fmt.Errorf("eval.keep_best %q: have off, greedy, sampled, both", c.Eval.KeepBest)
	case c.Output.Checkpoint < 1 || c.Output.Keep < 1:
		return errors.New("output.checkpoint and output.keep must be at least 1")
	}
	if c.Policy.Kind == "transformer" {
		t := c.Policy.Transformer
		t.Vocab = c.Policy.Vocab
		if err := t.Validate(); err != nil {
			return fmt.Errorf("policy.transformer: %w", err)
		}
		if c.Policy.MaxAction < 12 || c.Policy.MaxAction >= t.Context {
			return errors.New("policy.max_action must be at least 12 and below the context")
		}
	} else if err := c.Policy.MLP.Validate(); err != nil {
		return err
	}
	for name, a := range map[string]AdamConfig{"sft.adam": c.SFT.Adam, "rl.adam": c.RL.Adam} {
		if err := a.schedule(1).Check(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := c.SFT.Validate(); err != nil {
		return err
	}
	return c.RL.Algo.Validate()
}

func (a AdamConfig) schedule(total int) optim.Schedule {
	return optim.Schedule{Base: a.LR, Shape: a.Shape, Warmup: a.Warmup, Total: total, Floor: a.Floor}
}

// stepper is a fresh optimizer for p over a number of steps.
func (a AdamConfig) stepper(p policy.Trainable, total int) *optim.Stepper {
	var decay []optim.Range
	for _, t := range p.Tensors() {
		if t.Decay {
			decay = append(decay, optim.Range{Lo: t.Lo, Hi: t.Hi})
		}
	}
	cfg := optim.AdamConfig{Beta1: a.Beta1, Beta2: a.Beta2, Eps: a.Eps, Decay: a.Decay}
	return &optim.Stepper{Adam: optim.NewAdamW(len(p.Params()), cfg, decay), Schedule: a.schedule(total), ClipNorm: a.ClipNorm}
}

// stepsPerUpdate is how many optimizer steps one update makes at most.
func (c RLConfig) stepsPerUpdate() int {
	switch c.Algo.Name {
	case "grpo":
		return c.Algo.GRPO.Epochs * c.Algo.GRPO.Minibatches
	case "ei":
		return c.Algo.EI.Epochs * c.Algo.EI.Minibatches
	}
	return 1
}
