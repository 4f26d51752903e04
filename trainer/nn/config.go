package nn

import (
	"errors"
	"fmt"
	"math"
)

// Config is the shape of a model and of its initialisation. The zero value of
// an optional field means the default that its comment states.
type Config struct {
	Vocab      int     `json:"vocab" yaml:"vocab"`                   // size of the vocabulary, set from the tokenizer
	Context    int     `json:"context" yaml:"context"`               // most tokens of one sequence
	Dim        int     `json:"dim" yaml:"dim"`                       // width D
	Layers     int     `json:"layers" yaml:"layers"`                 // blocks
	Heads      int     `json:"heads" yaml:"heads"`                   // query heads H
	KVHeads    int     `json:"kv_heads" yaml:"kv_heads"`             // key and value heads G; 0 means Heads
	FF         int     `json:"ff" yaml:"ff"`                         // width F of the MLP; 0 means 4*Dim
	Activation string  `json:"activation" yaml:"activation"`         // "gelu" or "swiglu"; "" means gelu
	RopeDim    int     `json:"rope_dim" yaml:"rope_dim"`             // rotated dimensions of a head; 0 means half of it, -1 none
	RopeBase   float64 `json:"rope_base" yaml:"rope_base"`           // 0 means 10000
	NormEps    float64 `json:"norm_eps" yaml:"norm_eps"`             // 0 means 1e-6
	Smear      bool    `json:"smear" yaml:"smear"`                   // learned mixing of keys over 3 and queries over 2 positions
	Mimetic    bool    `json:"mimetic" yaml:"mimetic"`               // start with W_K = W_Q and W_O = 0.7 W_V^T, some heads keyed on previous tokens
	Norm       string  `json:"norm,omitempty" yaml:"norm"`           // "" is RMS normalisation, "layer" is LayerNorm with a bias
	Positions  string  `json:"positions,omitempty" yaml:"positions"` // "" is rotary (RopeDim), "learned" adds a vector a position to the embeddings
	Bias       bool    `json:"bias,omitempty" yaml:"bias"`           // the products have a bias
	EmbedScale float64 `json:"embed_scale" yaml:"embed_scale"`       // factor on embeddings; 0 means 10 if Mimetic, else 0.3 sqrt(Dim)
}

// Resolved returns c with every default filled in.
func (c Config) Resolved() Config {
	if c.KVHeads == 0 {
		c.KVHeads = c.Heads
	}
	if c.FF == 0 {
		c.FF = 4 * c.Dim
	}
	if c.Activation == "" {
		c.Activation = "gelu"
	}
	if c.Positions == "learned" {
		c.RopeDim = -1
	}
	if c.RopeDim == 0 && c.Heads > 0 {
		c.RopeDim = c.Dim / c.Heads / 2 / 2 * 2
	}
	if c.RopeBase == 0 {
		c.RopeBase = 1e4
	}
	if c.NormEps == 0 {
		c.NormEps = 1e-6
	}
	if c.EmbedScale == 0 {
		if c.Mimetic {
			c.EmbedScale = 10
		} else {
			c.EmbedScale = 0.3 * math.Sqrt(float64(c.Dim))
		}
	}
	return c
}

// HeadDim is the width E of one head.
func (c Config) HeadDim() int { return c.Dim / c.Heads }

// Validate reports the first thing that makes c impossible to build.
func (c Config) Validate() error {
	c = c.Resolved()
	switch {
	case c.Vocab < 2, c.Context < 1, c.Dim < 1, c.Layers < 1, c.Heads < 1, c.FF < 1:
		return errors.New("nn: vocab, context, dim, layers, heads and ff must be positive")
	case c.Dim%c.Heads != 0:
		return fmt.Errorf("nn: dim %d is not a multiple of heads %d", c.Dim, c.Heads)
	case c.KVHeads < 1 || c.Heads%c.KVHeads != 0:
		return fmt.Errorf("nn: heads %d is not a multiple of kv_heads %d", c.Heads, c.KVHeads)
	case c.Activation != "gelu" && c.Activation != "swiglu":
		return fmt.Errorf("nn: unknown activation %q", c.Activation)
	case c.Norm != "" && c.Norm != "layer":
		return fmt.Errorf("nn: unknown norm %q", c.Norm)
	case c.Positions != "" && c.Positions != "learned":
		return fmt.Errorf("nn: unknown positions %q", c.Positions)
	case c.RopeDim > c.HeadDim() || c.RopeDim > 0 && c.RopeDim%2 != 0:
		return fmt.Errorf("nn: rope_dim %d does not fit heads of %d", c.RopeDim, c.HeadDim())
	case !(c.RopeBase > 0) || !(c.NormEps > 0):
		return errors.New("nn: rope_base and norm_eps must be positive")
	}
	return nil
}
