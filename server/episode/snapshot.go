package episode

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/envs"
)

// How many states are kept at one time, in all and for one owner.
const (
	maxSnapshots      = 4096
	maxOwnerSnapshots = 1024
)

// snapshot is a kept state: an env that is never stepped, only copied.
type snapshot struct {
	owner  string
	from   *slot // for its type, labels and limits, which never change
	expiry time.Time

	mu  sync.Mutex // one copy at a time
	env envs.Env
	run *run
}

// Snapshot keeps an env's present state.
func (m *Manager) Snapshot(_ context.Context, who Who, id string) (string, error) {
	if m.draining.Load() {
		return "", errDraining()
	}
	s, e := m.find(who, id)
	if e != nil {
		return "", e
	}
	env, r, err := m.branch(s)
	if err != nil {
		return "", err
	}
	key := newID("snap")
	m.mu.Lock()
	mine := 0
	for k := range m.snaps {
		if k.owner == s.owner {
			mine++
		}
	}
	full := len(m.snaps) >= maxSnapshots || mine >= maxOwnerSnapshots
	if !full {
		m.snaps[slotKey{s.owner, key}] = &snapshot{owner: s.owner, from: s, expiry: m.cfg.Now().Add(m.cfg.MaxTTL), env: env, run: r}
		r.held.Add(int64(r.size))
	}
	m.mu.Unlock()
	if full {
		m.closeEnv(env)
		return "", &Error{Code: api.ProblemCodeCapacity, Detail: "no room for another snapshot; delete some of yours", Retryable: true, RetryAfter: time.Second}
	}
	return key, nil
}

// Fork makes envs that continue from an env's present state, each with an
// episode of its own that holds the steps so far.
func (m *Manager) Fork(_ context.Context, who Who, id string, count int) ([]api.Env, error) {
	switch {
	case m.draining.Load():
		return nil, errDraining()
	case count < 1 || count > 1024:
		return nil, Invalid("/count", "must be from 1 to 1024")
	}
	s, e := m.find(who, id)
	if e == nil {
		e = m.fits(count, 1)
	}
	if e != nil {
		return nil, e
	}
	return m.grow(count, s, s.labels, nil, nil, func() (envs.Env, *run, error) { return m.branch(s) })
}

// fromSnapshot makes envs that continue from a kept state.
func (m *Manager) fromSnapshot(_ context.Context, who Who, req api.CreateEnvRequest, b *Binding) (Created, error) {
	m.mu.RLock()
	sn := m.snaps[slotKey{who.Owner, req.FromSnapshot}]
	m.mu.RUnlock()
	if sn == nil {
		return Created{}, Invalid("/from_snapshot", "no such snapshot")
	}
	if req.Type != "" && req.Type != sn.from.spec.Name {
		return Created{}, Invalid("/type", "the snapshot is of another env type")
	}
	if req.ID != "" || req.Limits != nil || req.GroupID != "" {
		return Created{}, Invalid("/from_snapshot", "does not go with id, limits and group_id")
	}
	if req.Version != "" && req.Version != sn.from.spec.Version {
		return Created{}, Invalid("/version", "the version served is "+sn.from.spec.Version)
	}
	labels := req.Labels
	if labels == nil {
		labels = sn.from.labels
	}
	n := 1
	if req.Count != nil {
		n = *req.Count
	}
	if e := m.fits(n, 0); e != nil {
		return Created{}, e
	}
	es, err := m.grow(n, sn.from, labels, req.TTLSeconds, b, func() (envs.Env, *run, error) {
		sn.mu.Lock()
		defer sn.mu.Unlock()
		if sn.env == nil {
			return nil, nil, Invalid("/from_snapshot", "no such snapshot")
		}
		ctx, cancel := context.WithTimeout(context.Background(), m.cfg.ResetTimeout)
		defer cancel()
		env, err := m.fork(ctx, sn.from, sn.env)
		return env, sn.run.copy(), err
	})
	return Created{Envs: es, Group: n > 1}, err
}

// grow makes n slots like s out of copies. It makes all or none.
func (m *Manager) grow(n int, s *slot, labels *api.Labels, ttl *int, b *Binding, copied func() (envs.Env, *run, error)) ([]api.Env, error) {
	var made []*slot
	out := make([]api.Env, 0, n)
	for range n {
		env, r, err := copied()
		if err == nil {
			c := m.newSlot(s.owner, newID("env"), s.typ, s.spec, api.CreateEnvRequest{Labels: labels, TTLSeconds: ttl}, s.limits, s.group, b)
			now := m.cfg.Now()
			ep := &r.rec.Episode
			ep.ForkedFrom = &api.ForkedFrom{EpisodeID: ep.EpisodeID, Step: r.next}
			ep.EpisodeID, ep.EnvID, ep.StartedAt, ep.Labels = newID("ep"), c.id, now.UTC(), labels
			r.deadline = now.Add(r.left)
			c.env, c.run, c.resets = env, r, 1
			view := c.view()
			r.held.Add(int64(r.size))
			if err = m.begun(c, r); err == nil {
				made, out = append(made, c), append(out, view)
				continue
			}
			m.closeEnv(env)
			r.held.Add(-int64(r.size))
		}
		for _, c := range made {
			m.end(c, false)
		}
		return nil, err
	}
	return out, nil
}

// begun makes a copy visible that is in mid-episode. It is busy meanwhile, so that
// nobody steps it before its beginning is recorded, which takes as long as the
// disk does: its lock must not be held for that.
func (m *Manager) begun(c *slot, r *run) error {
	id := r.rec.Episode.EpisodeID
	o, _ := m.begin(c)
	defer m.active.Add(-1)
	defer o.cancel()
	m.mu.Lock()
	m.live[id] = c
	m.mu.Unlock()
	if err := m.add(c); err != nil {
		m.mu.Lock()
		delete(m.live, id)
		m.mu.Unlock()
		return err
	}
	m.rec.Started(r.rec)
	m.watch.Changed(r.rec.Owner, &r.rec.Episode)

	c.mu.Lock()
	c.busy = nil
	c.touch(m.cfg.Now())
	var drop envs.Env
	var done *Record
	if c.closed { // meanwhile, and the env was left to us
		drop, c.env = c.env, nil
		done = m.finish(r, api.StatusClosed, nil)
	}
	c.mu.Unlock()
	m.settleRecord(done)
	m.closeEnv(drop)
	return nil
}

// copy is r with nothing shared that changes.
func (r *run) copy() *run {
	c := *r
	c.rec.Steps = slices.Clone(r.rec.Steps)
	c.last, c.action, c.keys = nil, nil, nil
	return &c
}

// branch copies a live env in mid-episode.
func (m *Manager) branch(s *slot) (envs.Env, *run, error) {
	s.mu.Lock()
	if _, e := admit(s, api.StepRequest{}, ""); e != nil {
		s.mu.Unlock()
		return nil, nil, e
	}
	if _, ok := s.env.(envs.Forker); !ok || !s.spec.Can.Snapshot {
		s.mu.Unlock()
		return nil, nil, NotSupported("the env type cannot copy its state")
	}
	o, octx := m.begin(s)
	defer m.active.Add(-1)
	env, r := s.env, s.run
	s.touch(m.cfg.Now())
	s.mu.Unlock()

	ctx, leave := m.enter(octx, s, o, m.cfg.ResetTimeout)
	c, err := m.fork(ctx, s, env)
	leave()

	s.mu.Lock()
	if o.gone {
		s.mu.Unlock()
		m.closeEnv(env)
		m.closeEnv(c)
		return nil, nil, &Error{Code: api.ProblemCodeStepTimeout, Detail: "the environment did not answer in time", Effect: api.EffectApplied}
	}
	cp := r.copy()
	cp.left = r.deadline.Sub(m.cfg.Now())
	s.busy = nil
	var done *Record
	var drop envs.Env
	if s.closed {
		drop, s.env = env, nil
		done = m.finish(r, api.StatusClosed, nil)
	}
	s.mu.Unlock()
	o.cancel()
	m.settleRecord(done)
	m.closeEnv(drop)
	return c, cp, err
}

func (m *Manager) fork(ctx context.Context, s *slot, env envs.Env) (c envs.Env, err error) {
	f, ok := env.(envs.Forker)
	if !ok {
		return nil, NotSupported("the env type cannot copy its state")
	}
	_, _, err = safely(func() (out envs.Outcome, err error) {
		c, err = f.Fork(ctx)
		return out, err
	})
	if err != nil {
		return nil, m.broke(s.spec.Name, BoundaryCreate, "fork", err)
	}
	return c, nil
}

// DropSnapshot forgets a kept state.
func (m *Manager) DropSnapshot(who Who, id string) error {
	m.mu.Lock()
	k := slotKey{who.Owner, id}
	if m.snaps[k] == nil && who.All {
		for other := range m.snaps {
			if other.id == id {
				k = other
				break
			}
		}
	}
	sn := m.snaps[k]
	delete(m.snaps, k)
	m.mu.Unlock()
	if sn == nil {
		return &Error{Code: api.ProblemCodeSnapshotNotFound, Detail: "no such snapshot"}
	}
	m.forget(sn)
	return nil
}

// dropSnapshots forgets snapshots that have expired, or all.
func (m *Manager) dropSnapshots(all bool) {
	now := m.cfg.Now()
	m.mu.Lock()
	var gone []*snapshot
	for k, sn := range m.snaps {
		if all || now.After(sn.expiry) {
			gone = append(gone, sn)
			delete(m.snaps, k)
		}
	}
	m.mu.Unlock()
	for _, sn := range gone {
		m.forget(sn)
	}
}

// forget closes a snapshot that is no longer found. Where it is being copied,
// that is not waited for: a copy takes as long as its env type lets it.
func (m *Manager) forget(sn *snapshot) {
	release := func() {
		defer sn.mu.Unlock()
		m.closeEnv(sn.env)
		sn.env = nil
		sn.run.held.Add(-int64(sn.run.size))
	}
	if sn.mu.TryLock() {
		release()
		return
	}
	m.active.Add(1)
	go func() {
		defer m.active.Add(-1)
		sn.mu.Lock()
		release()
	}()
}
