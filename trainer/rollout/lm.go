package rollout

import (
	"github.com/proctor-rl/proctor/trainer/policy"
	"github.com/proctor-rl/proctor/trainer/token"
)

// minAction is the least number of tokens that an action can be written in;
// with less room an episode is ended rather than cut in the middle of one.
const minAction = 12

// LM is the Player of a language model. The ids it samples are the ids it
// records: nothing is decoded and encoded again.
type LM struct {
	sampler   policy.Sampler
	tokens    *token.Tokenizer
	context   int
	maxAction int
	newline   int32

	episodes map[int]*lmEpisode // by sequence
}

type lmEpisode struct {
	record Record
	action string
}

// NewLM is a player on a sampler for sequences of at most context tokens and
// actions of at most maxAction.
func NewLM(s policy.Sampler, t *token.Tokenizer, context, maxAction int) *LM {
	nl := t.Encode("\n")
	return &LM{sampler: s, tokens: t, context: context, maxAction: maxAction, newline: nl[0], episodes: map[int]*lmEpisode{}}
}

// Refresh implements Player.
func (l *LM) Refresh() {
	l.sampler.Refresh()
	clear(l.episodes)
}

// Begin implements Player.
func (l *LM) Begin(key policy.StreamKey, cfg policy.SampleConfig, observation string) (int, bool) {
	prompt := l.tokens.Encode(PromptText(observation))
	if len(prompt)+minAction > l.context {
		return 0, false
	}
	seq := l.sampler.Begin(key, cfg, prompt)
	e := &lmEpisode{}
	e.record.append(prompt, nil)
	l.episodes[seq] = e
	l.want(seq)
	return seq, true
}

// Observe implements Player.
func (l *LM) Observe(seq int, observation string) bool {
	e := l.episodes[seq]
	ids := l.tokens.Encode(ObservationText(e.action, observation))
	if len(ids)+minAction > l.sampler.Room(seq) {
		return false
	}
	l.sampler.Extend(seq, ids)
	e.record.append(ids, nil)
	l.want(seq)
	return true
}

func (l *LM) want(seq int) {
	l.sampler.Want(seq, min(l.maxAction, l.sampler.Room(seq)), func(sampled []int32) bool {
		return sampled[len(sampled)-1] == l.newline && Complete(l.tokens.Decode(sampled))
	})
}

// Step implements Player.
func (l *LM) Step() []int {
	ready := l.sampler.Step()
	for _, seq := range ready {
		e := l.episodes[seq]
		ids, logp := l.sampler.Sampled(seq)
		e.record.append(ids, logp)
		e.record.Ends = append(e.record.Ends, len(e.record.Tokens))
		e.action = l.tokens.Decode(ids)
	}
	return ready
}

// Action implements Player.
func (l *LM) Action(seq int) string { return l.episodes[seq].action }

// End implements Player.
func (l *LM) End(seq int) Record {
	e := l.episodes[seq]
	delete(l.episodes, seq)
	l.sampler.End(seq)
	return e.record
}

// append adds tokens that the policy chose, or, with logp nil, did not.
func (r *Record) append(ids []int32, logp []float32) {
	r.Tokens = append(r.Tokens, ids...)
	for i := range ids {
		r.Mask = append(r.Mask, logp != nil)
		if logp != nil {
			r.LogP = append(r.LogP, logp[i])
		} else {
			r.LogP = append(r.LogP, 0)
		}
	}
}
