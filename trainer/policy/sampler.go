package policy

import (
	"slices"

	"github.com/proctor-rl/proctor/trainer/nn"
)

const (
	// stepRows bounds the rows of one forward pass; longer prompts and
	// observations are fed over several steps.
	stepRows = 2048
	// partRows is the number of rows below which one more goroutine costs more
	// than it brings.
	partRows = 8
)

// A step reads all weights once and the keys and values of every sequence that
// it continues, so the number of those, the window, decides what comes from the
// processor's caches. Who is not in the window waits until somebody in it is
// done.
const (
	// nearWeights is the number of bytes of weights up to which they stay in
	// the caches from step to step, beside the keys of a few sequences.
	nearWeights = 8 << 20
	// nearRows is how many sequences each core then continues: two tiles of
	// the products. With 32, sampling took 1.3 to 1.5 times as long, since
	// keys and values no longer stayed.
	nearRows = 12
	// farWindow is how many sequences share the reading of weights that come
	// from memory at every step anyway.
	farWindow = 64
)

// NewSampler returns a Sampler for up to maxSeqs sequences at a time. It takes up
// t's parameters now and at every Refresh; the embeddings it reads in place, so
// it must not be stepped while they change.
func (t *Transformer) NewSampler(maxSeqs int) Sampler {
	s := &sampler{
		model:    t.model,
		packed:   t.model.NewPacked(false),
		context:  t.Config().Context,
		slots:    make([]slot, maxSeqs),
		rowLimit: max(stepRows, 2*maxSeqs),
		free:     maxSeqs,
		near:     4*len(t.Params()) <= nearWeights,
	}
	s.packed.Pack(0, 1)
	s.team.do = func(part int) { s.workers[part].run(s) }
	return s
}

// sampler implements Sampler. Because every value of a forward pass depends on
// its own sequence only, bit for bit, it may batch, split and share as it
// likes: what a sequence samples is a function of its key and its tokens.
type sampler struct {
	model    *nn.Model[float32]
	packed   *nn.Packed[float32]
	context  int
	rowLimit int
	fed      int  // tokens fed so far
	near     bool // the weights stay in the caches

	slots    []slot
	free     int
	prefixes []*prefix            // in order of creation
	idle     []*prefix            // finished with; their memory is used again
	stock    []*nn.Cache[float32] // not used yet

	waiting []ticket // sequences with a Want, in the order of the Wants
	tickets int
	active  int // sequences in the window

	jobs    []feed
	workers []*samplerWorker // one for each part of a step
	team    team
	cores   int // as the step found them
	done    []int
}

// slot is one sequence.
type slot struct {
	live    bool
	stream  stream
	draws   uint64
	cfg     SampleConfig
	prefix  *prefix // where the prompt is
	joined  bool    // the prompt is computed and cache continues it
	cache   *nn.Cache[float32]
	length  int     // tokens the sequence has
	pending []int32 // tokens not yet fed; the last ones of the sequence
	wanted  bool
	ticket  int  // of the last Want
	active  bool // in the window
	left    int  // tokens still to sample
	stop    func([]int32) bool
	sampled []int32
	logp    []float32
}

// prefix is a prompt that is computed once for all sequences that begin with it.
type prefix struct {
	hash   uint64
	tokens []int32
	fed    int
	cache  *nn.Cache[float32]
	logits []float32 // after the last token
	users  int       // slots that lean on it
}

func (p *prefix) ready() bool { return p.fed == len(p.tokens) }

// ticket is a place in the queue for the window.
type ticket struct{ slot, number int }

// feed is one sequence's share of a forward pass.
type feed struct {
	slot   int     // -1 for a prefix
	prefix *prefix // nil for a slot
	tokens []int32
	last   bool // logits after the last token are wanted
}

// Refresh implements Sampler.
func (s *sampler) Refresh() {
	for i := range s.slots {
		if s.slots[i].live {
			s.End(i)
		}
	}
	s.idle = append(s.idle, s.prefixes...)
	s.prefixes = s.prefixes[:0]
	s.packed.Pack(0, 1)
}

// Begin implements Sampler. It panics if there is no free sequence or if the
// prompt is empty or longer than the context.
func (s *sampler) Begin(key StreamKey, cfg SampleConfig, prompt []int32) int {
	if len(prompt) == 0 || len(prompt) > s.context {
		panic("policy: prompt is empty or longer than the context")
	}
	if s.free == 0 {
		panic("policy: more sequences than the sampler was made for")
	}
	s.free--
	id := 0
	for s.slots[id].live {
		id++
	}
	q := &s.slots[id]
	if q.cache == nil {
		q.cache = s.newCache()
	}
	q.live, q.stream, q.draws, q.cfg = true, newStream(key), 0, cfg
	q.length, q.pending, q.wanted = len(prompt), q.pending[:0], false
	q.sampled, q.logp = q.sampled[:0], q.logp[:0]
	q.prefix = s.prefixOf(prompt)
	q.prefix.users++
	return id
}

// newCache returns a cache that was never used, made with some others.
func (s *sampler) newCache() *nn.Cache[float32] {
	if len(s.stock) == 0 {
		s.stock = s.model.NewCaches(min(16, len(s.slots)))
	}
	k := s.stock[len(s.stock)-1]
	s.stock = s.stock[:len(s.stock)-1]
	return k
}

// prefixOf finds the prefix that equals prompt or makes it.
func (s *sampler) prefixOf(prompt []int32) *prefix {
	var h uint64
	for _, t := range prompt {
		h = mix64(h + uint64(t) + 0x9e3779b97f4a7c15)
	}
	for _, p := range s.prefixes {
		if p.hash == h && slices.Equal(p.tokens, prompt) {
			return p
		}
	}
	p := s.newPrefix()
	p.hash, p.fed, p.users = h, 0, 0
	p.tokens = append(p.tokens[:0], prompt...)
	p.cache.Reset()
	s.prefixes = append(s.prefixes, p)
	return p
}

// newPrefix takes an idle prefix, or the oldest that nobody uses if there
// are as many as sequences, or makes one.
func (s *sampler) newPrefix() *prefix {
	if n := len(s.idle); n > 0 {
		p := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return p
	}
	if len(s.prefixes) >= len(s.slots) {
		for i, p := range s.prefixes {
			if p.users == 0 {
				s.prefixes = append(s.prefixes[:i], s.prefixes[i+1:]...)
				return p
			}
		}
	}
	return &prefix{cache: s.newCache()}
}

// Extend implements Sampler. It panics if there is no room.
func (s *sampler) Extend(seq int, tokens []int32) {
	q := s.at(seq)
	if len(tokens) > s.context-q.length {
		panic("policy: Extend beyond the room of the sequence")
	}
	q.pending = append(q.pending, tokens...)
	q.length += len(tokens)
}

// Want implements Sampler. A sequence without room fulfils it with what it has.
func (s *sampler) Want(seq, max int, stop func(sampled []int32) bool) {
	q := s.at(seq)
	q.wanted, q.left, q.stop = true, max, stop
	q.sampled, q.logp = q.sampled[:0], q.logp[:0]
	s.leave(q)
	s.tickets++
	q.ticket = s.tickets
	s.waiting = append(s.waiting, ticket{seq, q.ticket})
}

// leave takes q out of the window.
func (s *sampler) leave(q *slot) {
	if q.active {
		q.active = false
		s.active--
	}
}

// Sampled implements Sampler.
func (s *sampler) Sampled(seq int) (tokens []int32, logp []float32) {
	q := s.at(seq)
	return q.sampled, q.logp
}

// Room implements Sampler.
func (s *sampler) Room(seq int) int { return s.context - s.at(seq).length }

// End implements Sampler.
func (s *sampler) End(seq int) {
	q := s.at(seq)
	q.prefix.users--
	s.leave(q)
	q.live, q.wanted, q.joined, q.prefix, q.stop = false, false, false, nil, nil
	s.free++
}

func (s *sampler) at(seq int) *slot {
	q := &s.slots[seq]
	if !q.live {
		panic("policy: sequence is not open")
	}
	return q
}
