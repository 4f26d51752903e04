package policy

import (
	"io"

	"github.com/proctor-rl/proctor/trainer/nn"
)

// TransformerConfig is the shape and the initialisation of a Transformer.
type TransformerConfig = nn.Config

// Transformer is a causal language model that implements Trainable.
type Transformer struct {
	cfg    TransformerConfig
	params []float32
	grads  []float32
}

// NewTransformer returns a freshly initialised model. The parameters depend on
// cfg and seed only. It panics if cfg does not validate.
func NewTransformer(cfg TransformerConfig, seed uint64) *Transformer {
	panic("policy: transformer not landed yet")
}

// Config is the resolved configuration of t.
func (t *Transformer) Config() TransformerConfig { return t.cfg }

// LogProbs implements Trainable.
func (t *Transformer) LogProbs(b *Batch) {}

// Accumulate implements Trainable.
func (t *Transformer) Accumulate(b *Batch, grad func(lo, hi int)) {}

// Params implements Trainable.
func (t *Transformer) Params() []float32 { return t.params }

// Grads implements Trainable.
func (t *Transformer) Grads() []float32 { return t.grads }

// Tensors implements Trainable.
func (t *Transformer) Tensors() []Tensor { return nil }

// NewSampler returns a Sampler for up to maxSeqs sequences at a time.
func (t *Transformer) NewSampler(maxSeqs int) Sampler {
	panic("policy: sampler not landed yet")
}

// Save writes the configuration and the parameters as a safetensors file.
func (t *Transformer) Save(w io.Writer) error { panic("policy: save not landed yet") }

// LoadTransformer reads what Save wrote.
func LoadTransformer(r io.Reader) (*Transformer, error) { panic("policy: load not landed yet") }

// CopyBatch is the induction warm-up.
func CopyBatch(vocab, sequences int, seed, step uint64) *Batch {
	panic("policy: copy batch not landed yet")
}
