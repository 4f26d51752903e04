package episode

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/envs"
)

var chosenID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// Created is the reply to a create: one env, or a group.
type Created struct {
	Envs  []api.Env
	Group bool // the client asked for count > 1
	ID    string
}

// Create makes an env, or count of them. A repeat with the same key and body
// gets the stored reply.
func (m *Manager) Create(ctx context.Context, who Who, req api.CreateEnvRequest, key string, b *Binding) (Created, bool, error) {
	if key == "" {
		c, err := m.create(ctx, who, req, b)
		return c, false, err
	}
	return m.past(who.Owner).creates.do(ctx, key, digest(req), func() (Created, error) { return m.create(ctx, who, req, b) })
}

func (m *Manager) create(ctx context.Context, who Who, req api.CreateEnvRequest, b *Binding) (Created, error) {
	if m.draining.Load() {
		return Created{}, errDraining()
	}
	if e := checkCreate(req); e != nil {
		return Created{}, e
	}
	if req.FromSnapshot != "" {
		return m.fromSnapshot(ctx, who, req, b)
	}
	typ, err := m.reg.Get(req.Type)
	if err != nil {
		return Created{}, errTypeNotFound()
	}
	spec := typ.Spec()
	if req.Version != "" && req.Version != spec.Version {
		return Created{}, Invalid("/version", "the version served is "+spec.Version)
	}
	limits, e := resolveLimits(spec, DefaultLimits(spec), req.Limits)
	if e != nil {
		return Created{}, e
	}
	count := 1
	if req.Count != nil {
		count = *req.Count
	}
	if e := m.fits(count, 0); e != nil {
		return Created{}, e
	}
	group := req.GroupID
	if count > 1 && group == "" {
		group = newID("grp")
	}
	out := Created{Group: count > 1, ID: group}
	var made []*slot
	for range count {
		id := req.ID
		if id == "" {
			id = newID("env")
		}
		env, err := m.newEnv(ctx, typ, spec.Name)
		if err == nil {
			s := m.newSlot(who.Owner, id, typ, spec, req, limits, group, b)
			s.env = env
			if err = m.add(s); err == nil {
				made = append(made, s)
				continue
			}
			m.closeEnv(env)
		}
		for _, s := range made { // all or none
			m.end(s, false)
		}
		return Created{}, err
	}
	for _, s := range made {
		s.mu.Lock()
		out.Envs = append(out.Envs, s.view())
		s.mu.Unlock()
	}
	return out, nil
}

func (m *Manager) newSlot(owner, id string, typ envs.Type, spec envs.Spec, req api.CreateEnvRequest, limits envs.Limits, group string, b *Binding) *slot {
	now := m.cfg.Now()
	s := &slot{
		id: id, owner: owner, typ: typ, spec: spec, limits: limits, labels: req.Labels,
		group: group, ttl: m.cfg.DefaultTTL, created: now, bound: b,
	}
	if req.TTLSeconds != nil {
		s.ttl = min(time.Duration(*req.TTLSeconds)*time.Second, m.cfg.MaxTTL)
	}
	s.touch(now)
	return s
}

// fits refuses more envs at once than can ever live beside others that have to:
// to wait would not help.
func (m *Manager) fits(count, others int) *Error {
	why := fmt.Sprintf("an owner may have %d live envs", m.cfg.MaxEnvsPerOwner)
	most := m.cfg.MaxEnvsPerOwner
	if m.cfg.MaxEnvs <= most {
		most, why = m.cfg.MaxEnvs, fmt.Sprintf("the server has at most %d live envs", m.cfg.MaxEnvs)
	}
	if count <= most-others {
		return nil
	}
	return Invalid("/count", fmt.Sprintf("must be at most %d: %s", max(0, most-others), why))
}

func full(detail string) error {
	return &Error{Code: api.ProblemCodeCapacity, Detail: detail, Retryable: true, RetryAfter: time.Second}
}

// add makes s visible, if there is room and its id is free.
func (m *Manager) add(s *slot) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := slotKey{s.owner, s.id}
	switch {
	case m.draining.Load():
		return errDraining()
	case m.slots[k] != nil:
		return Invalid("/id", "is in use")
	case len(m.slots) >= m.cfg.MaxEnvs:
		return full(fmt.Sprintf("the server has %d live envs, its most", m.cfg.MaxEnvs))
	case m.perOwner[s.owner] >= m.cfg.MaxEnvsPerOwner:
		return full(fmt.Sprintf("an owner may have %d live envs; end some of yours", m.cfg.MaxEnvsPerOwner))
	}
	m.past(s.owner).tombs.forget(k)
	m.slots[k] = s
	m.perOwner[s.owner]++
	m.perType[s.spec.Name]++
	m.obs.Live(s.spec.Name, m.perType[s.spec.Name])
	return nil
}

// newEnv makes an idle env; what breaks is ours.
func (m *Manager) newEnv(ctx context.Context, typ envs.Type, name string) (env envs.Env, err error) {
	defer func() {
		if p := recover(); p != nil {
			env, err = nil, fmt.Errorf("panic: %v", p)
		}
		if err != nil {
			err = m.broke(name, BoundaryCreate, "create env", err)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, m.cfg.ResetTimeout)
	defer cancel()
	return typ.New(ctx)
}

// broke logs what broke on our side, counts it, and makes the client's answer.
func (m *Manager) broke(envType string, at Boundary, what string, err error) *Error {
	m.obs.Broke(envType, at)
	m.cfg.Log.Error("environment broke", "env_type", envType, "boundary", string(at), "op", what, "err", err)
	if errors.Is(err, envs.ErrUnavailable) {
		return &Error{
			Code: api.ProblemCodeSandboxUnavailable, Detail: "this machine cannot run the env type now",
			Retryable: true, RetryAfter: 5 * time.Second, Cause: err,
		}
	}
	return &Error{Code: api.ProblemCodeEnvCrashed, Detail: "the environment broke on the server's side", Retryable: true, Cause: err}
}

func checkCreate(req api.CreateEnvRequest) *Error {
	var bad []api.FieldError
	add := func(p, d string) { bad = append(bad, api.FieldError{Pointer: p, Detail: d}) }
	if req.Type == "" && req.FromSnapshot == "" {
		add("/type", "is required")
	}
	if req.ID != "" && !chosenID.MatchString(req.ID) {
		add("/id", "must be 1 to 64 letters, digits, hyphens and underscores")
	}
	if req.TTLSeconds != nil && (*req.TTLSeconds < 1 || *req.TTLSeconds > 86400) {
		add("/ttl_seconds", "must be from 1 to 86400")
	}
	if req.Count != nil && (*req.Count < 1 || *req.Count > 1024) {
		add("/count", "must be from 1 to 1024")
	}
	if req.ID != "" && req.Count != nil && *req.Count > 1 {
		add("/id", "names one env only")
	}
	if utf8.RuneCountInString(req.GroupID) > 128 {
		add("/group_id", "must have at most 128 characters")
	}
	if req.Labels != nil {
		if len(*req.Labels) > 32 {
			add("/labels", "must be at most 32")
		}
		for k, v := range *req.Labels {
			if utf8.RuneCountInString(k) > 64 || utf8.RuneCountInString(v) > 256 {
				add("/labels", "a label is too long")
				break
			}
		}
	}
	if bad != nil {
		return invalidFields(bad)
	}
	return nil
}

func sortEnvs(es []api.Env) {
	slices.SortFunc(es, func(a, b api.Env) int {
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.EnvID, b.EnvID)
	})
}
