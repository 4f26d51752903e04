package policy

import (
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/proctor-rl/proctor/trainer/nn"
)

// TransformerConfig is the shape and the initialisation of a Transformer.
type TransformerConfig = nn.Config

const (
	// lanes is the fixed number of gradient vectors that a batch is spread
	// over. It belongs to the result: gradients are added within a lane in
	// order and then over lanes in a tree.
	lanes = 4
	// chunkTokens is about how many tokens are run forward and backward at
	// once; more would only push activations out of the cache. A chunk is
	// longer, up to groupTokens, rather than cut a group, because what its
	// members have in common is computed in every chunk that has some of them.
	chunkTokens = 512
	groupTokens = 2048
)

// Transformer is a causal language model that implements Trainable. One
// goroutine at a time may call its methods; it uses up to GOMAXPROCS itself.
type Transformer struct {
	model  *nn.Model[float32]
	packed *nn.Packed[float32] // refreshed by every call
	grads  []float32
	lane   [lanes][]float32 // gradients of a lane; lane 0 is scratch as the others

	spare  []*worker
	team   team
	phase  phase // what the team does
	chunks []chunk
	fresh  []int          // of every sequence, the tokens that the one before it does not have
	first  [lanes + 1]int // chunks[first[i]:first[i+1]] are lane i's
	order  [lanes]int     // the lanes, those with most work first
	next   atomic.Int32
	job    job
}

// chunk is a run of whole sequences.
type chunk struct{ seqLo, seqHi int }

// job is what the workers of one call work on.
type job struct {
	b    *Batch
	grad func(lo, hi int)
	invT float32
}

type worker struct {
	ws   nn.Workspace[float32]
	tree tree
}

// NewTransformer returns a freshly initialised model. The parameters depend on
// cfg and seed only. It panics if cfg does not validate.
func NewTransformer(cfg TransformerConfig, seed uint64) *Transformer {
	return newTransformer(nn.NewModel[float32](cfg, seed))
}

func newTransformer(m *nn.Model[float32]) *Transformer {
	t := &Transformer{model: m, packed: m.NewPacked(true), grads: make([]float32, len(m.Params()))}
	for i := range t.lane {
		t.lane[i] = make([]float32, len(m.Params()))
	}
	t.team.do = func(part int) { t.drain(t.spare[part]) }
	return t
}

// Config is the resolved configuration of t.
func (t *Transformer) Config() TransformerConfig { return t.model.Config() }

// Params implements Trainable. Whoever changes them while a Sampler is alive
// calls its Refresh.
func (t *Transformer) Params() []float32 { return t.model.Params() }

// Grads implements Trainable.
func (t *Transformer) Grads() []float32 { return t.grads }

// Tensors implements Trainable.
func (t *Transformer) Tensors() []Tensor {
	spans := t.model.Spans()
	out := make([]Tensor, len(spans))
	for i, s := range spans {
		out[i] = Tensor(s)
	}
	return out
}

// LogProbs implements Trainable.
func (t *Transformer) LogProbs(b *Batch) {
	t.start(b, nil)
	t.parallel(packing)
	t.parallel(running)
	t.job = job{}
}

// Accumulate implements Trainable.
func (t *Transformer) Accumulate(b *Batch, grad func(lo, hi int)) {
	if grad == nil {
		panic("policy: Accumulate without a gradient function")
	}
	t.start(b, grad)
	t.parallel(packing)
	t.parallel(running)
	t.parallel(reducing)
	t.job = job{}
}

// start checks b and cuts it.
func (t *Transformer) start(b *Batch, grad func(lo, hi int)) {
	n := len(b.Tokens)
	if len(b.Starts) < 1 || b.Starts[0] != 0 || int(b.Starts[len(b.Starts)-1]) != n ||
		len(b.Need) != n || len(b.LogP) != n || len(b.Entropy) != n ||
		grad != nil && (len(b.DLogP) != n || len(b.DEntropy) != n) {
		panic("policy: the slices of the batch do not fit together")
	}
	invT := float32(1)
	if b.Temperature != 0 {
		invT = 1 / b.Temperature
	}
	t.job = job{b, grad, invT}
	t.cut(b)
}

// cut spreads the sequences, in order, over the lanes so that each has about
// the same number of tokens to compute, and cuts every lane into chunks. What a
// sequence has in common with the one before it in its chunk is not computed
// again and does not count.
func (t *Transformer) cut(b *Batch) {
	t.chunks = t.chunks[:0]
	seqs, context := len(b.Starts)-1, t.Config().Context
	total := 0
	t.fresh = t.fresh[:0]
	for s := range seqs {
		n := b.length(s)
		if n > context {
			panic("policy: sequence longer than the context")
		}
		if s > 0 {
			if k := b.alike(s-1, s); k >= minShared {
				n -= k
			}
		}
		total += n
		t.fresh = append(t.fresh, n)
	}
	s, done := 0, 0
	for l := range lanes {
		t.first[l] = len(t.chunks)
		end := total * (l + 1) / lanes
		lo, size := s, 0
		for s < seqs {
			// A sequence belongs to the lane in which its middle lies.
			if l < lanes-1 && done+t.fresh[s]/2 >= end {
				break
			}
			limit := chunkTokens
			if t.fresh[s] < b.length(s) {
				limit = groupTokens
			}
			if s > lo && size+t.fresh[s] > limit {
				t.chunks = append(t.chunks, chunk{lo, s})
				lo, size = s, 0
			}
			if s == lo {
				size = b.length(s)
			} else {
				size += t.fresh[s]
			}
			done += t.fresh[s]
			s++
		}
		if s > lo {
			t.chunks = append(t.chunks, chunk{lo, s})
		}
	}
	t.first[lanes] = len(t.chunks)
	t.sortLanes(b)
}

// sortLanes puts the lanes with most work first, so that the workers end at
// about the same time. It does not show in the result.
func (t *Transformer) sortLanes(b *Batch) {
	var work [lanes]int
	width := 12 * t.Config().Dim
	for l := range lanes {
		t.order[l] = l
		for _, c := range t.chunks[t.first[l]:t.first[l+1]] {
			for s := c.seqLo; s < c.seqHi; s++ {
				work[l] += t.fresh[s] * (width + b.length(s))
			}
		}
	}
	slices.SortStableFunc(t.order[:], func(i, j int) int { return work[j] - work[i] })
}

// phase is what is done for every lane.
type phase int

const (
	packing  phase = iota // take up a part of the parameters
	running               // do the lane's chunks
	reducing              // add up a part of the gradients
)

// parallel does a phase on as many goroutines as there are processors. It
// waits for all of them.
func (t *Transformer) parallel(f phase) {
	n := min(runtime.GOMAXPROCS(0), lanes)
	for len(t.spare) < n {
		t.spare = append(t.spare, new(worker))
	}
	t.next.Store(0)
	t.phase = f
	t.team.run(n)
}

func (t *Transformer) drain(w *worker) {
	for {
		l := int(t.next.Add(1)) - 1
		if l >= lanes {
			return
		}
		switch t.phase {
		case packing:
			t.packed.Pack(l, lanes)
		case running:
			t.runLane(t.order[l], w)
		case reducing:
			t.reduce(l)
		}
	}
}

// runLane does the chunks of a lane in order.
func (t *Transformer) runLane(l int, w *worker) {
	j := &t.job
	if j.grad != nil {
		clear(t.lane[l])
	}
	for _, c := range t.chunks[t.first[l]:t.first[l+1]] {
		r := &w.tree
		r.build(j.b, c.seqLo, c.seqHi)
		t.model.Forward(&w.ws, t.packed, r.tokens, r.starts, r.after, r.need)
		t.model.LogProbs(&w.ws, j.invT, r.logP, r.entropy)
		r.give()
		if j.grad != nil {
			j.grad(int(j.b.Starts[c.seqLo]), int(j.b.Starts[c.seqHi]))
			r.take()
			t.model.Backward(&w.ws, j.invT, r.dLogP, r.dEntropy, t.lane[l])
		}
	}
}

// reduce adds the l-th part of all lanes' gradients to the total in a tree.
func (t *Transformer) reduce(l int) {
	n := len(t.grads)
	lo, hi := n*l/lanes, n*(l+1)/lanes
	a, b, c, d := t.lane[0][lo:hi], t.lane[1][lo:hi], t.lane[2][lo:hi], t.lane[3][lo:hi]
	for i, g := range t.grads[lo:hi] {
		t.grads[lo+i] = g + ((a[i] + b[i]) + (c[i] + d[i]))
	}
}
