package policy

// Batch is a set of token sequences packed end to end without padding. All
// slices but Starts have one element per token.
//
// LogP[i] is the log-probability of Tokens[i] given the tokens before it in
// its own sequence, at Temperature; it is 0 for the first token of a sequence
// and wherever Need is false. Entropy[i] is the entropy in nats of the
// distribution that Tokens[i] was drawn from, with the same zeros.
type Batch struct {
	Tokens      []int32
	Starts      []int32 // offsets of the sequences and the total at the end: len = sequences+1
	Need        []bool  // tokens whose LogP and Entropy are wanted
	Temperature float32 // 0 means 1

	LogP    []float32 // written by the policy
	Entropy []float32 // written by the policy

	DLogP    []float32 // dLoss/dLogP, set by the caller's gradient function
	DEntropy []float32 // dLoss/dEntropy, likewise
}

// Trainable is a policy seen by an optimizer.
//
// Results are identical bit for bit whatever GOMAXPROCS is: a batch is cut
// into a fixed number of shards of whole sequences and their gradients are
// added in a fixed tree.
type Trainable interface {
	// LogProbs fills b.LogP and b.Entropy where b.Need is true.
	LogProbs(b *Batch)
	// Accumulate fills LogP and Entropy, calls grad once for each shard with
	// its token range [lo,hi), which sets DLogP and DEntropy there and touches
	// nothing outside, and adds the parameter gradients to Grads. Calls of
	// grad for different shards may run at the same time.
	Accumulate(b *Batch, grad func(lo, hi int))
	// Params and Grads are flat views of all parameters and their gradients.
	Params() []float32
	Grads() []float32
	// Decayed reports for each parameter tensor whether weight decay applies:
	// ranges of Params, in order, that cover it.
	Tensors() []Tensor
}

// Tensor names a range of the flat parameter vector.
type Tensor struct {
	Name   string
	Lo, Hi int
	Shape  []int
	Decay  bool // weight decay applies (matrices, not gains or biases)
}

// StreamKey names the random stream of one sampled sequence. Token n of the
// sequence uses the n-th draw of a counter-based generator under this key, so
// what is sampled depends on nothing else: not on the batch, not on timing.
type StreamKey struct {
	Seed   uint64 // of the run
	Update uint64 // policy version
	Task   uint64 // position of the task in the update
	Member uint64 // member of the group
}

// SampleConfig says how tokens are drawn.
type SampleConfig struct {
	Temperature float32 // 0 is greedy
	TopK        int     // 0 is off
	TopP        float32 // 0 or 1 is off
}

// Sampler generates tokens for many sequences at once with a KV cache
// (continuous batching). It is used by one goroutine. Parameters must not
// change between Begin and the end of the sequences; Refresh takes up new ones.
type Sampler interface {
	// Refresh drops all sequences and takes up changed parameters.
	Refresh()
	// Begin opens a sequence whose first tokens are prompt and returns its id.
	// Sequences that begin with equal prompts share the work of the prefix.
	Begin(key StreamKey, cfg SampleConfig, prompt []int32) int
	// Extend appends tokens that the policy did not choose (an observation).
	Extend(seq int, tokens []int32)
	// Want asks for up to max sampled tokens in seq, ending early after a
	// token for which stop returns true. stop sees the tokens sampled since
	// this Want.
	Want(seq, max int, stop func(sampled []int32) bool)
	// Step advances every sequence that has something to do by one batched
	// forward pass and returns the sequences whose Want was fulfilled in it,
	// in ascending order. It returns nil when nothing is wanted.
	Step() []int
	// Sampled is the tokens of the last fulfilled Want of seq and their
	// log-probabilities under the distribution they were drawn from. The
	// slices are valid until the next Want.
	Sampled(seq int) (tokens []int32, logp []float32)
	// Room is how many more tokens seq can hold.
	Room(seq int) int
	// End frees seq.
	End(seq int)
}
