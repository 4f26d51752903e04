package nn_test

import (
	"testing"

	"github.com/proctor-rl/proctor/trainer/nn"
)

func TestConfig(t *testing.T) {
	good := tiny()
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	r := good.Resolved()
	if r != r.Resolved() {
		t.Error("resolving twice is not resolving once")
	}
	if r.KVHeads != 2 || r.RopeDim != 2 || r.EmbedScale != 10 || r.Activation != "gelu" {
		t.Errorf("resolved to %+v", r)
	}
	for name, change := range map[string]func(*nn.Config){
		"no heads":     func(c *nn.Config) { c.Heads = 0 },
		"odd heads":    func(c *nn.Config) { c.Heads = 3 },
		"kv heads":     func(c *nn.Config) { c.KVHeads = 3 },
		"kv negative":  func(c *nn.Config) { c.KVHeads = -1 },
		"no vocab":     func(c *nn.Config) { c.Vocab = 0 },
		"activation":   func(c *nn.Config) { c.Activation = "relu" },
		"norm":         func(c *nn.Config) { c.Norm = "batch" },
		"positions":    func(c *nn.Config) { c.Positions = "sine" },
		"rope too big": func(c *nn.Config) { c.RopeDim = 6 },
		"rope odd":     func(c *nn.Config) { c.RopeDim = 3 },
		"rope base":    func(c *nn.Config) { c.RopeBase = -1 },
	} {
		c := good
		change(&c)
		if c.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, cfg := range variants() {
		n, ok := cfg.NumParams(1 << 20)
		if want := len(nn.NewModel[float32](cfg, 1).Params()); n != want || !ok {
			t.Errorf("NumParams is %d, the model has %d", n, want)
		}
		if _, ok := cfg.NumParams(n - 1); ok {
			t.Error("a limit was not kept")
		}
	}
}
