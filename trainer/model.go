package trainer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/proctor-rl/proctor/trainer/policy"
	"github.com/proctor-rl/proctor/trainer/rollout"
	"github.com/proctor-rl/proctor/trainer/token"
)

// model is a policy with what is needed to play, save it.
type model struct {
	policy.Trainable
	kind    string
	tokens  *token.Tokenizer // nil for an mlp
	context int              // longest sequence, for normalising and sampling
	player  rollout.Player
	save    func(io.Writer) error
}

// mlpContext stands in for the context of an MLP, whose sequences are decisions.
const mlpContext = 16

// newModel is a fresh policy.
func newModel(c Config, t *token.Tokenizer) (*model, error) {
	if c.Policy.Kind == "mlp" {
		return mlpModel(c, policy.NewMLP(c.Policy.MLP, c.Seed)), nil
	}
	cfg := c.Policy.Transformer
	cfg.Vocab = t.Vocab()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return transformerModel(c, policy.NewTransformer(cfg, c.Seed), t), nil
}

func mlpModel(c Config, m *policy.MLP) *model {
	player := rollout.NewMLP(m)
	if c.Policy.Templates == "code" {
		player = rollout.NewTemplatedMLP(m, func(observation string, buckets int) rollout.Templates {
			return policy.NewCodeScene(observation, buckets)
		})
	}
	return &model{Trainable: m, kind: "mlp", context: mlpContext, player: player, save: m.Save}
}

func transformerModel(c Config, t *policy.Transformer, tok *token.Tokenizer) *model {
	ctx := t.Config().Context
	return &model{
		Trainable: t, kind: "transformer", tokens: tok, context: ctx, save: t.Save,
		player: rollout.NewLM(t.NewSampler(c.Env.Live), tok, ctx, c.Policy.MaxAction),
	}
}

// loadTrainable reads the parameters that save wrote.
func loadTrainable(kind string, r io.Reader) (policy.Trainable, error) {
	if kind == "mlp" {
		return policy.LoadMLP(r)
	}
	return policy.LoadTransformer(r)
}

// setParams takes up parameters of another policy of the same shape.
func (m *model) setParams(from policy.Trainable) error {
	if len(from.Params()) != len(m.Params()) {
		return fmt.Errorf("checkpoint has %d parameters, the configuration makes %d", len(from.Params()), len(m.Params()))
	}
	copy(m.Params(), from.Params())
	return nil
}

// paramsHash identifies parameters bit for bit.
func paramsHash(p policy.Trainable) string {
	h := sha256.New()
	_ = writeFloats(h, p.Params()) // a hash never fails
	return hex.EncodeToString(h.Sum(nil))
}
