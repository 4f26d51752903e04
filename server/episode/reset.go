package episode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/envs"
)

// Reset starts an episode. One that still runs on the env is recorded as
// closed, so that drawing again never hides a start.
func (m *Manager) Reset(ctx context.Context, who Who, id string, req api.ResetRequest, key string) (*api.ResetResult, bool, error) {
	if m.draining.Load() {
		return nil, false, errDraining()
	}
	if e := checkReset(req); e != nil {
		return nil, false, e
	}
	s, e := m.find(who, id)
	if e != nil {
		return nil, false, e
	}
	var body [32]byte
	if key != "" {
		body = digest(req)
	}
	s.mu.Lock()
	stored, e := admitReset(s, key, body)
	if e != nil || stored != nil {
		s.mu.Unlock()
		if e != nil {
			return nil, false, e
		}
		return stored, true, nil
	}
	limits, e := resolveLimits(s.spec, s.limits, req.Limits)
	if e != nil {
		s.mu.Unlock()
		return nil, false, e
	}
	o, octx := m.begin(s)
	round := s.resets
	s.mu.Unlock()
	// Making a task may take its time, and it is a type's own code.
	task, seed, group, err := m.choose(s, round, req)
	s.mu.Lock()
	if err != nil || s.closed {
		return nil, false, m.abandon(s, o, err)
	}
	var old *Record
	if r := s.run; r != nil && !r.over {
		old = m.finish(r, api.StatusClosed, nil)
	}
	s.resets++
	s.resetKey, s.resetBody, s.resetDone = key, body, nil
	r := m.newRun(s, task, seed, group, limits, req.PolicyVersion)
	s.run = r
	s.touch(m.cfg.Now())
	s.mu.Unlock()

	m.settleRecord(old)
	m.mu.Lock()
	m.live[r.rec.Episode.EpisodeID] = s
	m.mu.Unlock()
	go m.start(octx, s, o, r)
	rep := m.wait(ctx, s, o, nil, api.ProblemCodeResetTimeout)
	return rep.reset, false, rep.err
}

// abandon takes back a call that came to nothing before it reached the env. The
// caller holds s.mu, which it lets go.
func (m *Manager) abandon(s *slot, o *op, err error) error {
	defer m.active.Add(-1)
	s.busy = nil
	s.touch(m.cfg.Now())
	var drop envs.Env
	var done *Record
	if s.closed { // meanwhile, and the env was left to us
		drop, s.env = s.env, nil
		if r := s.run; r != nil && !r.over {
			done = m.finish(r, api.StatusClosed, nil)
		}
		err = m.gone(s.id)
	}
	s.mu.Unlock()
	o.cancel()
	m.settleRecord(done)
	m.closeEnv(drop)
	return err
}

func admitReset(s *slot, key string, body [32]byte) (*api.ResetResult, *Error) {
	switch {
	case s.closed:
		return nil, errEnvNotFound(s.id)
	case key != "" && key == s.resetKey && body != s.resetBody:
		return nil, (&Error{Code: api.ProblemCodeStepConflict, Detail: "the idempotency key was used with another body"}).at(s)
	case key != "" && key == s.resetKey && s.resetDone != nil:
		return s.resetDone, nil
	case s.busy != nil:
		return nil, (&Error{
			Code: api.ProblemCodeStepInProgress, Detail: "another call runs on the env", Retryable: true, RetryAfter: 50 * time.Millisecond,
		}).at(s)
	}
	return nil, nil
}

func (m *Manager) newRun(s *slot, task envs.Task, seed int64, group string, limits envs.Limits, policy string) *run {
	now := m.cfg.Now()
	zero := 0.0
	return &run{
		task: task, limits: limits, held: &m.past(s.owner).held, deadline: now.Add(time.Duration(limits.WallTimeSeconds) * time.Second),
		rec: Record{Owner: s.owner, Episode: api.Episode{
			EpisodeID: newID("ep"), EnvID: s.id, Owner: s.owner, Type: s.spec.Name, Version: s.spec.Version,
			TaskID: task.ID, Split: task.Split, Public: task.Public, Seed: seed,
			GroupID: group, PolicyVersion: policy, Labels: s.labels, Status: api.StatusRunning,
			Return: &zero, Limits: WireLimits(limits), StartedAt: now.UTC(),
		}},
	}
}

// start runs the env's reset and settles it.
func (m *Manager) start(ctx context.Context, s *slot, o *op, r *run) {
	defer m.active.Add(-1)
	env := s.env
	run, leave := m.enter(ctx, s, o, m.cfg.ResetTimeout)
	var err error
	at := BoundaryReset
	if env == nil {
		// The last one broke.
		env, err = m.newEnv(run, s.typ, s.spec.Name)
	}
	var obs envs.Observation
	if err == nil {
		var pan Boundary
		_, pan, err = safely(func() (envs.Outcome, error) {
			var err error
			obs, err = env.Reset(run, envs.Start{Task: r.task, Seed: r.rec.Episode.Seed, Limits: r.limits})
			return envs.Outcome{}, err
		})
		if pan != "" {
			at = pan
		}
	}
	leave()

	s.mu.Lock()
	if o.gone {
		s.mu.Unlock()
		m.closeEnv(env)
		return
	}
	var done *Record
	var rep opReply
	drop := env
	if err == nil {
		s.env, drop = env, nil
		r.rec.Reset = wireObservation(obs, r.limits.MaxObservationBytes)
		s.resetDone = m.resetResult(s, r)
		rep.reset = s.resetDone
	} else {
		s.env = nil
		status := api.StatusFailed
		if s.closed {
			status = api.StatusClosed
		}
		done = m.finish(r, status, nil)
	}
	if err == nil && !s.closed {
		// Nobody steps the env before the beginning is recorded and told.
		started := r.rec
		s.mu.Unlock()
		m.rec.Started(started)
		m.watch.Changed(started.Owner, &started.Episode)
		s.mu.Lock()
		if o.gone {
			s.mu.Unlock()
			m.closeEnv(env)
			return
		}
	}
	if s.closed && err == nil {
		drop, s.env = env, nil
		done = m.finish(r, api.StatusClosed, nil)
	}
	s.busy = nil
	s.touch(m.cfg.Now())
	closed := s.closed
	s.mu.Unlock()
	o.cancel()

	m.settleRecord(done)
	m.closeEnv(drop)
	switch {
	case closed:
		rep = opReply{err: m.cutOff(s, r)}
	case err != nil:
		var e *Error
		if !errors.As(err, &e) {
			e = m.broke(s.spec.Name, at, "reset", err)
		}
		e.EnvID, e.EpisodeID, e.Effect = s.id, r.rec.Episode.EpisodeID, api.EffectApplied
		rep = opReply{err: e}
	}
	o.reply <- rep
}

func (m *Manager) resetResult(s *slot, r *run) *api.ResetResult {
	return &api.ResetResult{
		EnvID: s.id, EpisodeID: r.rec.Episode.EpisodeID, Step: 0, Observation: r.rec.Reset,
		Tools: WireTools(s.spec), Task: WireTask(s.spec.Name, r.task), Seed: r.rec.Episode.Seed,
		SeedAccepted: s.spec.Can.Seed, GroupID: r.rec.Episode.GroupID, Limits: r.rec.Episode.Limits, Status: api.StatusRunning,
	}
}

// choose picks the task and the seed of a reset, the group's where it has a
// group that has started. round counts the env's resets before this one.
func (m *Manager) choose(s *slot, round int, req api.ResetRequest) (envs.Task, int64, string, error) {
	group := req.GroupID
	if group == "" && s.group != "" {
		group = s.group
		if round > 0 {
			group += "." + strconv.Itoa(round) // a group's later rounds are groups of their own
		}
	}
	k := groupKey{s.owner, s.spec.Name, group}
	named := req.TaskID != "" || req.Split != "" || req.Index != nil || req.Seed != nil
	theirs := func(g groupStart) (envs.Task, int64, string, error) {
		t, err := m.pick(s, api.ResetRequest{TaskID: g.taskID}, g.seed)
		return t, g.seed, group, err
	}
	if group != "" && !named {
		if g, ok := m.past(s.owner).groups.get(k); ok {
			return theirs(g)
		}
	}
	seed := rand.Int64N(1 << 53) // a seed, not a secret
	if req.Seed != nil {
		seed = *req.Seed
	}
	task, err := m.pick(s, req, seed)
	if err != nil || group == "" {
		return task, seed, group, err
	}
	g := m.past(s.owner).groups.join(k, groupStart{task.ID, seed})
	switch {
	case !named && g.taskID != task.ID:
		return theirs(g) // another member was faster
	case g.taskID != task.ID:
		return task, seed, group, Invalid("/task_id", "the group has started another task")
	case req.Seed != nil && g.seed != seed:
		return task, seed, group, Invalid("/seed", "the group has started from another seed")
	}
	return task, g.seed, group, nil
}

func (m *Manager) pick(s *slot, req api.ResetRequest, seed int64) (t envs.Task, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = m.broke(s.spec.Name, BoundaryPanic, "pick task", fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	set := s.typ.Tasks()
	if req.TaskID != "" {
		t, err := set.Find(req.TaskID)
		if errors.Is(err, envs.ErrNoTask) || err == nil && req.Split != "" && t.Split != string(req.Split) {
			return t, errTaskNotFound("no such task")
		}
		if err != nil {
			return t, m.broke(s.spec.Name, BoundaryReset, "find task", err)
		}
		return t, nil
	}
	split := string(req.Split)
	if split == "" {
		split = envs.SplitTrain
		for _, sp := range s.spec.Splits {
			if set.Len(split) > 0 {
				break
			}
			split = sp.Name
		}
	}
	n := set.Len(split)
	if n == 0 {
		return envs.Task{}, errTaskNotFound("the split has no tasks")
	}
	i := int(mix(uint64(seed)) % uint64(n)) // below n
	if req.Index != nil {
		i = *req.Index
	}
	if i >= n {
		return envs.Task{}, errTaskNotFound(fmt.Sprintf("the split has %d tasks", n))
	}
	t, err = set.At(split, i)
	if err != nil {
		return t, m.broke(s.spec.Name, BoundaryReset, "deal task", err)
	}
	return t, nil
}

// mix spreads a seed over all bits (the finalizer of SplitMix64), so that
// neighbouring seeds deal unrelated tasks.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func checkReset(req api.ResetRequest) *Error {
	var bad []api.FieldError
	add := func(p, d string) { bad = append(bad, api.FieldError{Pointer: p, Detail: d}) }
	if utf8.RuneCountInString(req.TaskID) > 256 {
		add("/task_id", "must have at most 256 characters")
	}
	if req.Split != "" && !req.Split.Valid() {
		add("/split", "must be train, validation, test or user")
	}
	if req.Index != nil && *req.Index < 0 {
		add("/index", "must be at least 0")
	}
	if req.Index != nil && req.TaskID != "" {
		add("/index", "does not go with task_id")
	}
	if utf8.RuneCountInString(req.GroupID) > 128 {
		add("/group_id", "must have at most 128 characters")
	}
	if utf8.RuneCountInString(req.PolicyVersion) > 128 {
		add("/policy_version", "must have at most 128 characters")
	}
	if bad != nil {
		return invalidFields(bad)
	}
	return nil
}

// WireTools is the tools of a type as the contract has them.
func WireTools(spec envs.Spec) []api.Tool {
	out := make([]api.Tool, len(spec.Tools))
	for i, t := range spec.Tools {
		p := t.Parameters
		if len(p) == 0 {
			p = json.RawMessage(`{"type":"object"}`)
		}
		out[i] = api.Tool{Type: api.ToolTypeFunction, Function: api.ToolFunction{Name: t.Name, Description: t.Description, Parameters: p}}
	}
	return out
}

// WireTask is the public side of a task.
func WireTask(envType string, t envs.Task) api.Task {
	pub := t.Public
	if pub == nil {
		pub = map[string]any{}
	}
	return api.Task{TaskID: t.ID, Type: envType, Split: t.Split, Public: pub}
}
