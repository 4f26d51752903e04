package policy

import (
	"runtime"

	"github.com/proctor-rl/proctor/trainer/nn"
)

// Step implements Sampler.
func (s *sampler) Step() []int {
	s.cores = runtime.GOMAXPROCS(0)
	for len(s.workers) < s.cores {
		s.workers = append(s.workers, new(samplerWorker))
	}
	s.collect()
	s.run()
	s.done = s.done[:0]
	for i := range s.slots {
		q := &s.slots[i]
		if !q.live || !q.wanted {
			continue
		}
		if !q.joined && q.prefix.ready() {
			s.join(q)
		}
		if q.left <= 0 || q.length >= s.context {
			q.wanted = false
		}
		if !q.wanted {
			s.leave(q)
			s.done = append(s.done, i)
		}
	}
	if len(s.done) == 0 {
		return nil
	}
	return s.done
}

// join lets q continue the prompt and, if nothing follows the prompt, gives it
// its first sampled token.
func (s *sampler) join(q *slot) {
	p := q.prefix
	q.cache.Fork(p.cache)
	q.joined = true
	if len(q.pending) == 0 && q.left > 0 && q.length < s.context {
		q.sample(&s.workers[0].drawer, p.logits)
	}
}

// sample draws the next token of q from logits.
func (q *slot) sample(d *drawer, logits []float32) {
	tok, lp := d.draw(logits, q.cfg, q.stream.uniform(q.draws))
	q.draws++
	q.sampled = append(q.sampled, tok)
	q.logp = append(q.logp, lp)
	q.pending = append(q.pending[:0], tok)
	q.length++
	q.left--
	if q.stop != nil && q.stop(q.sampled) {
		q.left = 0
	}
}

// window is the number of sequences that a step continues together.
func (s *sampler) window() int {
	if s.near {
		return nearRows * s.cores
	}
	return farWindow
}

// admit fills the window with the sequences that have waited longest and whose
// prompts are computed.
func (s *sampler) admit() {
	kept, window := s.waiting[:0], s.window()
	for _, w := range s.waiting {
		q := &s.slots[w.slot]
		switch {
		case !q.live || !q.wanted || q.ticket != w.number:
			// Fulfilled or ended meanwhile.
		case q.joined && s.active < window:
			q.active = true
			s.active++
		default:
			kept = append(kept, w)
		}
	}
	s.waiting = kept
}

// collect lists what the next forward pass feeds.
func (s *sampler) collect() {
	s.jobs = s.jobs[:0]
	rows := 0
	add := func(f feed) int {
		if n := s.rowLimit - rows; len(f.tokens) > n {
			f.tokens, f.last = f.tokens[:n], false
		}
		if len(f.tokens) > 0 {
			rows += len(f.tokens)
			s.jobs = append(s.jobs, f)
		}
		return len(f.tokens)
	}
	s.admit()
	for i := range s.slots {
		if q := &s.slots[i]; q.active && q.left > 0 && q.length < s.context {
			add(feed{slot: i, tokens: q.pending, last: true})
		}
	}
	for _, p := range s.prefixes {
		if p.users > 0 && !p.ready() {
			p.fed += add(feed{slot: -1, prefix: p, tokens: p.tokens[p.fed:], last: true})
		}
	}
}

// run does the forward pass, split over the workers.
func (s *sampler) run() {
	total := 0
	for _, f := range s.jobs {
		total += len(f.tokens)
	}
	s.fed += total
	if total == 0 {
		return
	}
	// Part p ends where (p+1)/parts of the rows are reached.
	parts := min(s.cores, (total+partRows-1)/partRows)
	rows, lo := 0, 0
	for p := range parts {
		hi := lo
		for hi < len(s.jobs) && rows*parts < (p+1)*total {
			rows += len(s.jobs[hi].tokens)
			hi++
		}
		s.workers[p].jobs = s.jobs[lo:hi]
		lo = hi
	}
	s.team.run(parts)
}

// samplerWorker is the scratch memory of one part of a step.
type samplerWorker struct {
	jobs   []feed
	space  nn.DecodeSpace[float32]
	segs   []nn.Segment[float32]
	tokens []int32
	drawer drawer
}

// run feeds the worker's jobs and samples the next token of every slot among them whose
// pending tokens are all in.
func (w *samplerWorker) run(s *sampler) {
	if len(w.jobs) == 0 {
		return
	}
	w.segs, w.tokens = w.segs[:0], w.tokens[:0]
	for _, f := range w.jobs {
		lo := len(w.tokens)
		w.tokens = append(w.tokens, f.tokens...)
		seg := nn.Segment[float32]{Lo: lo, Hi: len(w.tokens), Last: f.last}
		if f.prefix != nil {
			seg.Cache = f.prefix.cache
		} else {
			seg.Cache = s.slots[f.slot].cache
		}
		w.segs = append(w.segs, seg)
	}
	logits := s.model.Decode(&w.space, s.packed, w.tokens, w.segs)
	V := s.model.Config().Vocab
	k := 0
	for _, f := range w.jobs {
		s.consume(f)
		if !f.last {
			continue
		}
		row := logits[k*V : (k+1)*V]
		k++
		if f.prefix != nil {
			f.prefix.logits = append(f.prefix.logits[:0], row...)
		} else {
			s.slots[f.slot].sample(&w.drawer, row)
		}
	}
}

// consume drops the fed tokens from a slot's pending ones.
func (s *sampler) consume(f feed) {
	if f.prefix != nil {
		return
	}
	q := &s.slots[f.slot]
	q.pending = q.pending[:copy(q.pending, q.pending[len(f.tokens):])]
}
