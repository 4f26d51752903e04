package policy_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/proctor-rl/proctor/trainer/policy"
)

// episode is a scripted use of a sampler: a prompt, then wants with
// observations between them.
type episode struct {
	key    policy.StreamKey
	cfg    policy.SampleConfig
	prompt []int32
	wants  []int
	obs    [][]int32

	id, turn int
	tokens   []int32 // everything, in order
	policy   []bool  // sampled
	logp     []float32
}

func (e *episode) begin(s policy.Sampler) {
	e.id = s.Begin(e.key, e.cfg, e.prompt)
	e.add(e.prompt, nil)
	s.Want(e.id, e.wants[0], func(t []int32) bool { return t[len(t)-1] == 3 })
}

func (e *episode) add(tokens []int32, logp []float32) {
	e.tokens = append(e.tokens, tokens...)
	for i := range tokens {
		e.policy = append(e.policy, logp != nil)
		if logp != nil {
			e.logp = append(e.logp, logp[i])
		} else {
			e.logp = append(e.logp, 0)
		}
	}
}

// next takes what was sampled and goes on; it reports whether the episode goes on.
func (e *episode) next(s policy.Sampler) bool {
	e.add(s.Sampled(e.id))
	e.turn++
	if e.turn == len(e.wants) {
		s.End(e.id)
		return false
	}
	s.Extend(e.id, e.obs[e.turn-1])
	e.add(e.obs[e.turn-1], nil)
	s.Want(e.id, e.wants[e.turn], func(t []int32) bool { return t[len(t)-1] == 3 })
	return true
}

// play runs episodes, at most width at a time.
func play(s policy.Sampler, eps []*episode, width int) {
	byID := map[int]*episode{}
	for next := 0; next < len(eps) || len(byID) > 0; {
		for next < len(eps) && len(byID) < width {
			eps[next].begin(s)
			byID[eps[next].id] = eps[next]
			next++
		}
		for _, id := range s.Step() {
			if !byID[id].next(s) {
				delete(byID, id)
			}
		}
	}
}

func script(n int, cfg policy.SampleConfig) []*episode {
	rng := rand.New(rand.NewPCG(5, 6))
	var prompts [][]int32
	for range 4 {
		prompts = append(prompts, randomTokens(rng, 1+rng.IntN(30), 31))
	}
	var eps []*episode
	for i := range n {
		e := &episode{cfg: cfg, prompt: prompts[i%len(prompts)]}
		e.key = policy.StreamKey{Seed: 1, Update: 2, Task: uint64(i % len(prompts)), Member: uint64(i)}
		for range 1 + rng.IntN(3) {
			e.wants = append(e.wants, 1+rng.IntN(9))
			e.obs = append(e.obs, randomTokens(rng, 1+rng.IntN(9), 31))
		}
		eps = append(eps, e)
	}
	return eps
}

func sameEpisodes(t *testing.T, got, want []*episode) {
	t.Helper()
	for i := range want {
		if !slices.Equal(got[i].tokens, want[i].tokens) || !slices.Equal(got[i].logp, want[i].logp) {
			t.Fatalf("episode %d differs:\n%v\n%v\n%v\n%v", i, got[i].tokens, want[i].tokens, got[i].logp, want[i].logp)
		}
	}
}

// TestSamplerEqualsTrainer is P14, P1 and B02: the log-probabilities of sampling
// with a cache, in whatever company and through observations, are bit for bit
// those of the training forward pass on the stored tokens.
func TestSamplerEqualsTrainer(t *testing.T) {
	grouped, wide := smallConfig(), smallConfig()
	grouped.KVHeads = 2
	wide.Dim, wide.Heads = 64, 2
	gpt2 := policy.TransformerConfig{Vocab: 31, Context: 96, Dim: 24, Layers: 2, Heads: 3, Norm: "layer", Positions: "learned", Bias: true}
	for name, cfg := range map[string]policy.TransformerConfig{"small": smallConfig(), "grouped": grouped, "wide": wide, "gpt2": gpt2} {
		for _, temperature := range []float32{1, 0.7} {
			t.Run(fmt.Sprint(name, temperature), func(t *testing.T) {
				p := policy.NewTransformer(cfg, 1)
				eps := script(24, policy.SampleConfig{Temperature: temperature})
				play(p.NewSampler(10), eps, 10)
				var seqs [][]int32
				for _, e := range eps {
					seqs = append(seqs, e.tokens)
				}
				b := batchOf(seqs...)
				b.Temperature = temperature
				p.LogProbs(b)
				n := 0
				for s, e := range eps {
					for i, mine := range e.policy {
						if got := b.LogP[int(b.Starts[s])+i]; mine {
							n++
							if got != e.logp[i] {
								t.Fatalf("sequence %d token %d: sampler %v, trainer %v", s, i, e.logp[i], got)
							}
						}
					}
				}
				if n < 100 {
					t.Fatalf("only %d tokens compared", n)
				}
			})
		}
	}
}

// TestSampleDependsOnKeyOnly is P24: width of the batch, order of beginning,
// chunked prefill and number of processors change nothing.
func TestSampleDependsOnKeyOnly(t *testing.T) {
	p := policy.NewTransformer(smallConfig(), 1)
	for _, cfg := range []policy.SampleConfig{{Temperature: 1}, {}, {Temperature: 1.3, TopK: 5}, {Temperature: 1, TopP: 0.8}} {
		want := script(24, cfg)
		play(p.NewSampler(1), want, 1)
		for _, width := range []int{3, 24} {
			for _, rows := range []int{0, 7} {
				for _, procs := range []int{1, 2, 7} {
					old := runtime.GOMAXPROCS(procs)
					got := script(24, cfg)
					s := p.NewSampler(24)
					if rows > 0 {
						policy.SetRowLimit(s, rows)
					}
					play(s, got, width)
					runtime.GOMAXPROCS(old)
					sameEpisodes(t, got, want)
				}
			}
		}
		reversed := script(24, cfg)
		slices.Reverse(reversed)
		play(p.NewSampler(7), reversed, 7)
		slices.Reverse(reversed)
		sameEpisodes(t, reversed, want)
	}
}

// TestMoreThanTheWindow plays more episodes at once than a step continues, some
// of which are given up while they wait.
func TestMoreThanTheWindow(t *testing.T) {
	p := policy.NewTransformer(smallConfig(), 1)
	cfg := policy.SampleConfig{Temperature: 1}
	want := script(90, cfg)
	play(p.NewSampler(1), want, 1)
	for _, far := range []bool{false, true} {
		got := script(90, cfg)
		s := p.NewSampler(100)
		if far {
			policy.SetFar(s)
		}
		for range 2 {
			for m := range 100 {
				id := s.Begin(policy.StreamKey{Seed: 9, Member: uint64(m)}, cfg, []int32{1, 2})
				s.Want(id, 5, nil)
			}
			s.Step()
			s.Step()
			for id := range 100 {
				s.End(id)
			}
		}
		play(s, got, 90)
		sameEpisodes(t, got, want)
	}
}

// TestPromptComputedOnce counts the rows that a group with one prompt feeds.
func TestPromptComputedOnce(t *testing.T) {
	p := policy.NewTransformer(smallConfig(), 1)
	s := p.NewSampler(8)
	prompt := []int32{1, 2, 3, 4, 5, 6, 7, 8, 9}
	for m := range 8 {
		id := s.Begin(policy.StreamKey{Member: uint64(m)}, policy.SampleConfig{Temperature: 1}, prompt)
		s.Want(id, 2, nil)
	}
	if done := s.Step(); done != nil {
		t.Fatalf("fulfilled too early: %v", done)
	}
	if n := policy.RowsFed(s); n != len(prompt) {
		t.Errorf("first step fed %d rows, want %d", n, len(prompt))
	}
	if done := s.Step(); len(done) != 8 || !slices.IsSorted(done) {
		t.Errorf("second step fulfilled %v", done)
	}
	if n := policy.RowsFed(s); n != len(prompt)+8 {
		t.Errorf("two steps fed %d rows, want %d", n, len(prompt)+8)
	}
	if s.Step() != nil {
		t.Error("a step with nothing wanted fulfilled something")
	}
}

// TestSamplerLimits covers the end of the context, wants for nothing, and Refresh.
func TestSamplerLimits(t *testing.T) {
	cfg := smallConfig()
	cfg.Context = 12
	p := policy.NewTransformer(cfg, 1)
	s := p.NewSampler(2)
	id := s.Begin(policy.StreamKey{}, policy.SampleConfig{Temperature: 1}, randomTokens(rand.New(rand.NewPCG(1, 1)), 9, 31))
	if s.Room(id) != 3 {
		t.Fatalf("room %d, want 3", s.Room(id))
	}
	s.Want(id, 100, nil)
	for s.Step() == nil {
	}
	if tok, lp := s.Sampled(id); len(tok) != 3 || len(lp) != 3 || s.Room(id) != 0 {
		t.Errorf("sampled %d tokens, room %d", len(tok), s.Room(id))
	}
	s.Want(id, 1, nil)
	if done := s.Step(); !slices.Equal(done, []int{id}) {
		t.Errorf("a full sequence was not handed back: %v", done)
	}
	other := s.Begin(policy.StreamKey{}, policy.SampleConfig{}, []int32{1})
	s.Want(other, 0, nil)
	if done := s.Step(); !slices.Equal(done, []int{other}) {
		t.Errorf("a want for nothing was not fulfilled: %v", done)
	}
	s.Refresh()
	// New parameters must be seen through the shared prompts too.
	before := sampleOne(s)
	for i := range p.Params() {
		p.Params()[i] *= 1.5
	}
	s.Refresh()
	if after := sampleOne(s); after == before {
		t.Error("Refresh did not take up the new parameters")
	}
}

func sampleOne(s policy.Sampler) float32 {
	id := s.Begin(policy.StreamKey{}, policy.SampleConfig{}, []int32{4, 5, 6})
	s.Want(id, 1, nil)
	for s.Step() == nil {
	}
	_, lp := s.Sampled(id)
	s.End(id)
	return lp[0]
}
