package nn

// Model is a causal transformer: embeddings, blocks of attention and MLP with
// a norm before each, and an output tied to the embeddings. Its configuration
// makes the blocks Llama's (RMS norm, rotary positions, SwiGLU, grouped queries)
// or GPT-2's (LayerNorm, learned positions, GELU, biases). All
// parameters lie in one flat vector. A Model is read-only to Forward, Backward
// and decoding, so several goroutines may use it, each with its own Workspace
// and gradient vector.
type Model[F Float] struct {
	cfg    Config
	params []F
	at     layout
	rope   rope[F]
}

// NewModel returns a model initialised from seed. It panics if cfg does not
// validate.
func NewModel[F Float](cfg Config, seed uint64) *Model[F] {
	if err := cfg.Validate(); err != nil {
		panic(err.Error())
	}
	cfg = cfg.Resolved()
	m := &Model[F]{cfg: cfg, at: newLayout(cfg)}
	m.params = make([]F, m.at.size)
	m.rope = newRope[F](cfg.RopeDim, cfg.Context, cfg.RopeBase)
	initialise(m.params, cfg, m.at, seed)
	return m
}

// Config is the resolved configuration.
func (m *Model[F]) Config() Config { return m.cfg }

// Params is the flat parameter vector itself.
func (m *Model[F]) Params() []F { return m.params }

// Spans describes the tensors that Params consists of, in order.
func (m *Model[F]) Spans() []Span { return m.at.spans }
