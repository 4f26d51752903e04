package episode

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/envs"
)

// Manager owns the live envs. It is safe for concurrent use. Run reaps idle
// envs; Drain ends everything.
type Manager struct {
	cfg   Config
	reg   *envs.Registry
	rec   Recorder
	obs   Observer
	watch Watcher

	slotsFree chan struct{} // one token an env that may run at one time
	draining  atomic.Bool
	over      context.Context // the Manager's own: what no env's end cancels
	stop      context.CancelFunc
	active    atomic.Int64 // calls that run on envs, hung ones included

	mu       sync.RWMutex
	slots    map[slotKey]*slot
	perOwner map[string]int
	perType  map[string]int
	live     map[string]*slot // by episode id, while it runs
	snaps    map[slotKey]*snapshot

	pastMu sync.Mutex
	pasts  map[string]*past // by owner
}

// New makes a Manager of the types in reg. A nil rec or obs is allowed.
func New(cfg Config, reg *envs.Registry, rec Recorder, obs Observer) *Manager {
	cfg = cfg.withDefaults()
	if rec == nil {
		rec = nop{}
	}
	if obs == nil {
		obs = nopObs{}
	}
	m := &Manager{
		cfg: cfg, reg: reg, rec: rec, obs: obs, watch: nopWatch{},
		slotsFree: make(chan struct{}, cfg.MaxConcurrent),
		slots:     map[slotKey]*slot{}, perOwner: map[string]int{}, perType: map[string]int{},
		live: map[string]*slot{}, snaps: map[slotKey]*snapshot{}, pasts: map[string]*past{},
	}
	m.over, m.stop = context.WithCancel(context.Background())
	for _, t := range reg.Types() {
		obs.Live(t.Spec().Name, 0)
	}
	return m
}

// Registry is the env types that m plays.
func (m *Manager) Registry() *envs.Registry { return m.reg }

// newID has 128 random bits or more.
func newID(prefix string) string { return prefix + "_" + rand.Text() }

// find is the slot of an id that who may see.
func (m *Manager) find(who Who, id string) (*slot, *Error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if s := m.slots[slotKey{who.Owner, id}]; s != nil {
		return s, nil
	}
	if who.All {
		for k, s := range m.slots {
			if k.id == id {
				return s, nil
			}
		}
	}
	if m.past(who.Owner).tombs.expired(slotKey{who.Owner, id}) {
		return nil, &Error{Code: api.ProblemCodeEnvExpired, Detail: "the env was not used for longer than its time to live", EnvID: id}
	}
	return nil, m.gone(id)
}

// Env looks at an env.
func (m *Manager) Env(who Who, id string) (api.Env, error) {
	s, e := m.find(who, id)
	if e != nil {
		return api.Env{}, e
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.view(), nil
}

// Envs lists the live envs that who may see, oldest first.
func (m *Manager) Envs(who Who) []api.Env {
	m.mu.RLock()
	var ss []*slot
	for k, s := range m.slots {
		if who.All || k.owner == who.Owner {
			ss = append(ss, s)
		}
	}
	m.mu.RUnlock()
	out := make([]api.Env, 0, len(ss))
	for _, s := range ss {
		s.mu.Lock()
		out = append(out, s.view())
		s.mu.Unlock()
	}
	sortEnvs(out)
	return out
}

// Live is the number of live envs.
func (m *Manager) Live() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.slots)
}

// Draining says whether m refuses new episodes.
func (m *Manager) Draining() bool { return m.draining.Load() }

// Run closes envs whose time to live has passed, until ctx ends.
func (m *Manager) Run(ctx context.Context) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			m.Sweep()
		}
	}
}

// Sweep closes every env whose time to live has passed. A call that runs on an
// env is a sign of life.
func (m *Manager) Sweep() {
	now := m.cfg.Now()
	m.mu.RLock()
	var old []*slot
	for _, s := range m.slots {
		s.mu.Lock()
		if s.busy == nil && now.After(s.expires) {
			old = append(old, s)
		}
		s.mu.Unlock()
	}
	m.mu.RUnlock()
	for _, s := range old {
		m.end(s, true)
	}
	m.dropSnapshots(false)
}

// Drain refuses new episodes, waits until no call runs on an env or ctx ends,
// then closes every env. Their episodes are recorded as closed.
func (m *Manager) Drain(ctx context.Context) {
	m.draining.Store(true)
	m.watch.Draining()
	m.awaitIdle(ctx)
	m.mu.RLock()
	all := make([]*slot, 0, len(m.slots))
	for _, s := range m.slots {
		all = append(all, s)
	}
	m.mu.RUnlock()
	for _, s := range all {
		m.end(s, false)
	}
	m.dropSnapshots(true)
	m.stop()
	// Closing an env cancels its call, so only one that ignores that is left.
	hung, cancel := context.WithTimeout(context.Background(), m.cfg.HangGrace)
	defer cancel()
	if !m.awaitIdle(hung) {
		m.cfg.Log.ErrorContext(ctx, "gave up on an env that ignores its end")
	}
}

// awaitIdle waits until no call runs on an env.
func (m *Manager) awaitIdle(ctx context.Context) bool {
	t := time.NewTicker(5 * time.Millisecond)
	defer t.Stop()
	for m.active.Load() > 0 {
		select {
		case <-ctx.Done():
			return false
		case <-t.C:
		}
	}
	return true
}
