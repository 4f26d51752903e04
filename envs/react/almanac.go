package react

import (
	"math/rand/v2"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/react/almanac"
	"github.com/proctor-rl/proctor/envs/react/answer"
	"github.com/proctor-rl/proctor/envs/react/world"
)

// NewAlmanac makes the type of real countries. user are the tasks that a user
// brings for it; one without documents searches the almanac.
func NewAlmanac(user []UserTask) (*Type, error) {
	a, err := almanac.Load()
	if err != nil {
		return nil, err
	}
	c := newCorpus(a.Pages())
	o := Options{Name: "react-almanac", Style: world.Prose, Train: 5000, Validation: 400, Test: 2000, UserTasks: user}
	return newType(o, &real{a: a, corpus: c, opt: o}, "Answer a question about a real country from an almanac of 2015 by searching and computing.")
}

// real is the source of questions about countries.
type real struct {
	a      *almanac.Almanac
	corpus *corpus
	opt    Options
}

func (r *real) size(split string) int {
	switch split {
	case envs.SplitTrain:
		return r.opt.Train
	case envs.SplitValidation:
		return r.opt.Validation
	case envs.SplitTest:
		return r.opt.Test
	}
	return 0
}

func (r *real) make(split byte, i int) (map[string]any, *problem) {
	slice := world.Seen
	if split != 0 && i%2 == 1 {
		slice = world.Unseen
	}
	q := r.a.Ask(splits[split].pool, slice, rand.New(rand.NewPCG(0xa1, uint64(split)<<32|uint64(i))))
	p := &problem{
		question: q.Text, golds: []answer.Gold{q.Gold}, script: plan{q: q, prose: true},
		compute: q.Form == world.Arithmetic,
		corpus:  func() *corpus { return r.corpus },
	}
	return map[string]any{"kind": string(q.Form), "hops": q.Hops, "slice": string(q.Slice)}, p
}
