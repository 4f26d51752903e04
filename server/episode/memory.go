package episode

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/proctor-rl/proctor/api"
)

// How much is remembered for one owner of what is over. Older entries make
// room.
const (
	maxTombs   = 1 << 16
	maxGroups  = 1 << 16
	maxCreates = 1 << 12
	maxCreated = 1 << 14 // envs in the replies to them
)

// past is what is remembered for one owner. Each has its own, so that nobody's
// busy day makes the server forget another's groups and requests. Owners are as
// many as there are tokens.
type past struct {
	tombs   tombs // guarded by Manager.mu
	groups  groups
	creates memo
	held    atomic.Int64 // bytes of the records of its running episodes and its snapshots
}

// past is what is remembered for an owner.
func (m *Manager) past(owner string) *past {
	m.pastMu.Lock()
	defer m.pastMu.Unlock()
	p := m.pasts[owner]
	if p == nil {
		p = &past{}
		m.pasts[owner] = p
	}
	return p
}

// digest identifies a request's body.
func digest(v any) [32]byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("episode: request does not marshal") // it was decoded from JSON
	}
	return sha256.Sum256(b)
}

// tombs remember ended envs, so that ending twice is no error and an expired
// one is told from an unknown one. The caller holds the manager's lock.
type tombs struct {
	was   map[slotKey]tomb
	order []buried // oldest first; an entry whose number is not its tomb's is stale
	n     uint64
}

type tomb struct {
	expired bool
	n       uint64
}

type buried struct {
	key slotKey
	n   uint64
}

func (t *tombs) add(k slotKey, expired bool) {
	if t.was == nil {
		t.was = map[slotKey]tomb{}
	}
	t.n++
	t.was[k] = tomb{expired, t.n}
	t.order = append(t.order, buried{k, t.n})
	stale := func(b buried) bool { return t.was[b.key].n != b.n }
	for len(t.was) > maxTombs {
		if b := t.order[0]; !stale(b) {
			delete(t.was, b.key)
		}
		t.order = t.order[1:]
	}
	if len(t.order) > 2*maxTombs { // mostly the same few names again and again
		t.order = slices.DeleteFunc(t.order, stale)
	}
}

func (t *tombs) forget(k slotKey)       { delete(t.was, k) }
func (t *tombs) expired(k slotKey) bool { return t.was[k].expired }
func (t *tombs) has(k slotKey) bool     { _, ok := t.was[k]; return ok }

// groups remember what the first reset of a group started from, so that its
// other members start from the same.
type groups struct {
	mu    sync.Mutex
	start map[groupKey]groupStart
	order []groupKey
}

type groupKey struct{ owner, envType, id string }

// groupStart names the task and does not hold it: a task may hold a whole
// world, and there may be many groups.
type groupStart struct {
	taskID string
	seed   int64
}

// join is the start of a group: the first caller's choice.
func (g *groups) join(k groupKey, mine groupStart) groupStart {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s, ok := g.start[k]; ok {
		return s
	}
	if g.start == nil {
		g.start = map[groupKey]groupStart{}
	}
	g.start[k] = mine
	g.order = append(g.order, k)
	if len(g.order) > maxGroups {
		delete(g.start, g.order[0])
		g.order = g.order[1:]
	}
	return mine
}

func (g *groups) get(k groupKey) (groupStart, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, ok := g.start[k]
	return s, ok
}

// memo stores the replies of keyed creates.
type memo struct {
	mu    sync.Mutex
	seen  map[string]*memoEntry
	order []*memoEntry // oldest first
	envs  int          // in the replies
}

type memoEntry struct {
	key   string
	body  [32]byte
	done  chan struct{}
	reply Created
	err   error
	envs  int // in reply, guarded by memo.mu
}

// do runs f for the first call with a key; a repeat waits for it and gets its
// reply. A failed call is forgotten, so that it may be tried again.
func (m *memo) do(ctx context.Context, key string, body [32]byte, f func() (Created, error)) (Created, bool, error) {
	m.mu.Lock()
	if e := m.seen[key]; e != nil {
		m.mu.Unlock()
		if e.body != body {
			return Created{}, false, &Error{Code: api.ProblemCodeStepConflict, Detail: "the idempotency key was used with another body"}
		}
		select {
		case <-e.done:
			return e.reply, true, e.err
		case <-ctx.Done():
			return Created{}, false, ctx.Err()
		}
	}
	if m.seen == nil {
		m.seen = map[string]*memoEntry{}
	}
	e := &memoEntry{key: key, body: body, done: make(chan struct{})}
	m.seen[key] = e
	m.order = append(m.order, e)
	if len(m.order) > maxCreates {
		m.forgetOldest()
	}
	m.mu.Unlock()
	e.reply, e.err = f()
	m.mu.Lock()
	if e.err == nil && m.seen[key] == e {
		e.envs = len(e.reply.Envs)
		for m.envs += e.envs; m.envs > maxCreated && m.order[0] != e; {
			m.forgetOldest()
		}
	}
	m.mu.Unlock()
	if e.err != nil {
		m.mu.Lock()
		if i := slices.Index(m.order, e); i >= 0 {
			m.order = slices.Delete(m.order, i, i+1)
			delete(m.seen, key)
		}
		m.mu.Unlock()
	}
	close(e.done)
	return e.reply, false, e.err
}

// forgetOldest makes room. The caller holds m.mu.
func (m *memo) forgetOldest() {
	old := m.order[0]
	m.envs -= old.envs
	delete(m.seen, old.key)
	m.order[0] = nil
	m.order = m.order[1:]
}
