package rollout

import (
	"math"
	"slices"

	"github.com/proctor-rl/proctor/trainer/policy"
)

// Templates are what an MLP policy makes of one episode: it is told what
// happened and says which actions come into question.
type Templates interface {
	// Observe takes in the answer to an action.
	Observe(action, observation string)
	// Candidates are the actions to choose among, at least one.
	Candidates() []policy.Candidate
}

// MLP is the Player of an MLP policy over templated actions.
type MLP struct {
	policy   *policy.MLP
	start    func(observation string, buckets int) Templates
	episodes map[int]*mlpEpisode
	next     int
}

type mlpEpisode struct {
	scene     Templates
	key       policy.StreamKey
	cfg       policy.SampleConfig
	owes      bool
	action    string
	decisions []policy.Decision
	logp      []float32
}

// NewMLP is a player on p that asks questions of texts: its templates are those
// of policy.Scene.
func NewMLP(p *policy.MLP) *MLP {
	return NewTemplatedMLP(p, func(observation string, buckets int) Templates { return policy.NewScene(observation, buckets) })
}

// NewTemplatedMLP is a player on p with the templates that start makes of the
// first observation of an episode and the number of hash buckets.
func NewTemplatedMLP(p *policy.MLP, start func(observation string, buckets int) Templates) *MLP {
	return &MLP{policy: p, start: start, episodes: map[int]*mlpEpisode{}}
}

// Refresh implements Player. The decisions recorded so far are dropped.
func (m *MLP) Refresh() {
	clear(m.episodes)
	m.policy.Forget()
}

// Begin implements Player.
func (m *MLP) Begin(key policy.StreamKey, cfg policy.SampleConfig, observation string) (int, bool) {
	m.next++
	m.episodes[m.next] = &mlpEpisode{scene: m.start(observation, m.policy.Config().Buckets), key: key, cfg: cfg, owes: true}
	return m.next, true
}

// Observe implements Player.
func (m *MLP) Observe(episode int, observation string) bool {
	e := m.episodes[episode]
	e.scene.Observe(e.action, observation)
	e.owes = true
	return true
}

// Step implements Player.
func (m *MLP) Step() []int {
	var ready []int
	for id, e := range m.episodes {
		if e.owes {
			m.choose(e)
			ready = append(ready, id)
		}
	}
	slices.Sort(ready)
	return ready
}

func (m *MLP) choose(e *mlpEpisode) {
	candidates := e.scene.Candidates()
	d := policy.Decision{Features: make([][]int32, len(candidates)), Prior: make([]float32, len(candidates))}
	for i, c := range candidates {
		d.Features[i], d.Prior[i] = c.Features, c.Prior
	}
	t := float64(e.cfg.Temperature)
	if t == 0 {
		t = 1
	}
	lp := make([]float64, len(candidates))
	m.policy.Distribution(lp, &d, t)
	if e.cfg.Temperature == 0 {
		for i := range lp {
			if lp[i] > lp[d.Chosen] {
				d.Chosen = i
			}
		}
	} else {
		u := e.key.Uniform(uint64(len(e.decisions)))
		d.Chosen = len(lp) - 1
		for i := range lp {
			if u -= math.Exp(lp[i]); u < 0 {
				d.Chosen = i
				break
			}
		}
	}
	e.owes = false
	e.action = candidates[d.Chosen].Action
	e.decisions = append(e.decisions, d)
	e.logp = append(e.logp, float32(lp[d.Chosen]))
}

// Action implements Player.
func (m *MLP) Action(episode int) string { return m.episodes[episode].action }

// End implements Player. Token 0 of the record stands for the beginning.
func (m *MLP) End(episode int) Record {
	e := m.episodes[episode]
	delete(m.episodes, episode)
	r := Record{Tokens: []int32{-1}, Mask: []bool{false}, LogP: []float32{0}}
	for i, d := range e.decisions {
		r.Tokens = append(r.Tokens, m.policy.Record(d))
		r.Mask = append(r.Mask, true)
		r.LogP = append(r.LogP, e.logp[i])
		r.Ends = append(r.Ends, len(r.Tokens))
	}
	return r
}
