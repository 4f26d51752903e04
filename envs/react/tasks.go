package react

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/react/answer"
	"github.com/proctor-rl/proctor/envs/react/world"
)

// splits are the generated splits; their position is part of a task's id.
var splits = []struct {
	name string
	pool world.Pool
}{
	{envs.SplitTrain, world.Train},
	{envs.SplitValidation, world.Validation},
	{envs.SplitTest, world.Test},
}

// source makes tasks from indices.
type source interface {
	size(split string) int
	make(split byte, i int) (public map[string]any, p *problem)
}

// taskSet numbers the tasks of a source and keeps the user's beside them.
type taskSet struct {
	src  source
	ids  taskIDs
	user []envs.Task
	byID map[string]int
}

func newTaskSet(src source, ids taskIDs, user []UserTask) (*taskSet, error) {
	s := &taskSet{src: src, ids: ids, byID: map[string]int{}}
	for _, u := range user {
		if _, twice := s.byID[u.id]; twice {
			return nil, fmt.Errorf("user task %q is given twice", u.id)
		}
		p := u.problem
		if p.corpus == nil {
			// The file brings no documents: the built-in test world serves.
			_, other := src.make(2, 0)
			p.corpus = other.corpus
		}
		s.byID[u.id] = len(s.user)
		s.user = append(s.user, envs.Task{
			ID: u.id, Split: envs.SplitUser,
			Public:  map[string]any{"kind": "user"},
			Private: &p,
		})
	}
	return s, nil
}

// Len is the number of tasks in a split.
func (s *taskSet) Len(split string) int {
	if split == envs.SplitUser {
		return len(s.user)
	}
	return s.src.size(split)
}

// At is task i of a split.
func (s *taskSet) At(split string, i int) (envs.Task, error) {
	if i < 0 || i >= s.Len(split) {
		return envs.Task{}, fmt.Errorf("%w: %s %d", envs.ErrNoTask, split, i)
	}
	if split == envs.SplitUser {
		return s.user[i], nil
	}
	for n, sp := range splits {
		if sp.name == split {
			public, p := s.src.make(byte(n), i)
			return envs.Task{ID: s.ids.encode(byte(n), i), Split: split, Public: public, Private: p}, nil
		}
	}
	return envs.Task{}, fmt.Errorf("%w: no split %q", envs.ErrNoTask, split)
}

// Find is the task of an id. A user's id wins.
func (s *taskSet) Find(id string) (envs.Task, error) {
	if i, ok := s.byID[id]; ok {
		return s.user[i], nil
	}
	n, i, ok := s.ids.decode(id)
	if !ok || int(n) >= len(splits) {
		return envs.Task{}, fmt.Errorf("%w: %.80q", envs.ErrNoTask, id)
	}
	return s.At(splits[n].name, i)
}

// generated is the source of invented worlds. Worlds are made when first
// needed and the recent ones kept.
type generated struct {
	opt Options

	mu     sync.Mutex
	recent map[worldKey]*madeWorld
	order  []worldKey // oldest first
}

type worldKey struct {
	split byte
	n     int
}

type madeWorld struct {
	w      *world.World
	once   sync.Once
	corpus *corpus
}

// keepWorlds bounds the cache: enough for the groups of a batch.
const keepWorlds = 128

func (g *generated) size(split string) int {
	switch split {
	case envs.SplitTrain:
		return g.opt.Train
	case envs.SplitValidation:
		return g.opt.Validation
	case envs.SplitTest:
		return g.opt.Test
	}
	return 0
}

// make draws task i. In the held-out splits every other task is of slice
// unseen.
func (g *generated) make(split byte, i int) (map[string]any, *problem) {
	m := g.world(worldKey{split, i / g.opt.TasksPerWorld})
	slice := world.Seen
	if split != 0 && i%2 == 1 {
		slice = world.Unseen
	}
	rng := rand.New(rand.NewPCG(g.opt.Seed^0xa5c, uint64(split)<<32|uint64(i)))
	q := m.w.Ask(g.opt.Mix, slice, rng)
	p := &problem{
		question: q.Text, golds: []answer.Gold{q.Gold}, script: plan{q: q, prose: !g.opt.compact()},
		compute: q.Form == world.Arithmetic,
	}
	p.corpus = func() *corpus {
		m.once.Do(func() { m.corpus = newCorpus(m.w.Pages()) })
		return m.corpus
	}
	return map[string]any{"kind": string(q.Form), "hops": q.Hops, "slice": string(q.Slice)}, p
}

func (g *generated) world(k worldKey) *madeWorld {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m := g.recent[k]; m != nil {
		return m
	}
	m := &madeWorld{w: world.New(world.Config{
		Seed:      g.opt.Seed ^ uint64(k.n)*0x9e3779b97f4a7c15,
		Pool:      splits[k.split].pool,
		Countries: g.opt.Countries,
		Style:     g.opt.Style,
	})}
	if g.recent == nil {
		g.recent = map[worldKey]*madeWorld{}
	}
	if len(g.order) == keepWorlds {
		delete(g.recent, g.order[0])
		g.order = append(g.order[:0], g.order[1:]...)
	}
	g.recent[k] = m
	g.order = append(g.order, k)
	return m
}
