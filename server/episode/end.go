package episode

import (
	"maps"
	"slices"
	"time"

	"github.com/proctor-rl/proctor/api"
)

// Close ends an env and its episode. Ending it again is no error.
func (m *Manager) Close(who Who, id string) error {
	s, e := m.find(who, id)
	if e != nil {
		if m.ended(who, id) {
			return nil
		}
		return e
	}
	m.end(s, false)
	return nil
}

// ended says whether an env that who might end has ended already.
func (m *Manager) ended(who Who, id string) bool {
	owners := []string{who.Owner}
	if who.All {
		m.pastMu.Lock()
		owners = slices.Collect(maps.Keys(m.pasts))
		m.pastMu.Unlock()
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.ContainsFunc(owners, func(o string) bool { return m.past(o).tombs.has(slotKey{o, id}) })
}

// end takes a slot out of the world. A call that runs on it is cancelled and
// closes the env when it returns.
func (m *Manager) end(s *slot, expired bool) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	if expired && (s.busy != nil || !m.cfg.Now().After(s.expires)) {
		s.mu.Unlock() // it came to life again
		return
	}
	s.closed = true
	env := s.env
	if s.run != nil {
		switch {
		case expired:
			s.run.closer = api.ClosedByIdle
		case m.draining.Load():
			s.run.closer = api.ClosedByDrain
		}
	}
	var done *Record
	if s.busy != nil {
		env = nil // the call's to close
		s.busy.cancel()
	} else {
		s.env = nil
		if r := s.run; r != nil && !r.over {
			done = m.finish(r, api.StatusClosed, nil)
		}
	}
	s.mu.Unlock()
	m.settleRecord(done)

	m.mu.Lock()
	k := slotKey{s.owner, s.id}
	if m.slots[k] == s {
		delete(m.slots, k)
		m.past(s.owner).tombs.add(k, expired)
		if m.perOwner[s.owner]--; m.perOwner[s.owner] == 0 {
			delete(m.perOwner, s.owner)
		}
		m.perType[s.spec.Name]--
		m.obs.Live(s.spec.Name, m.perType[s.spec.Name])
	}
	m.mu.Unlock()
	m.closeEnv(env)
}

// Attach ties an env to a socket.
func (m *Manager) Attach(who Who, id string, b *Binding) (api.Env, error) {
	s, e := m.find(who, id)
	if e != nil {
		return api.Env{}, e
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return api.Env{}, m.gone(id)
	}
	s.bound, s.grace = b, 0
	s.touch(m.cfg.Now())
	return s.view(), nil
}

// Release lets a socket's envs live on for its grace, unless another socket
// has taken them up.
func (m *Manager) Release(b *Binding) {
	until := m.cfg.Now().Add(b.Grace)
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, s := range m.slots {
		s.mu.Lock()
		if s.bound == b {
			s.bound = nil
			s.grace = max(b.Grace, time.Nanosecond)
			if s.expires.After(until) {
				s.expires = until
			}
		}
		s.mu.Unlock()
	}
}
