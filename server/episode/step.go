package episode

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/envs"
)

// Step applies an action. replayed says that the reply is the stored one of an
// equal earlier request. An env that breaks gives a reply of status failed
// without a reward, not an error.
func (m *Manager) Step(ctx context.Context, who Who, id string, req api.StepRequest, key string) (res *api.StepResult, replayed bool, err error) {
	arrived := m.cfg.Now()
	req.Action = wellFormed(req.Action)
	action, e := parseAction(req.Action)
	switch {
	case e != nil:
		return nil, false, e
	case req.Step != nil && *req.Step < 0:
		return nil, false, Invalid("/step", "must be at least 0")
	case req.TimeoutMs != nil && (*req.TimeoutMs < 1 || *req.TimeoutMs > 3_600_000):
		return nil, false, Invalid("/timeout_ms", "must be from 1 to 3600000")
	}
	s, e := m.find(who, id)
	if e != nil {
		return nil, false, e
	}
	s.mu.Lock()
	s.touch(arrived)
	stored, e := admit(s, req, key)
	if e != nil || stored != nil {
		s.mu.Unlock()
		if e != nil {
			return nil, false, e
		}
		return stored, true, nil
	}
	if n := len(req.Action); n > largeAction && s.run.held.Load()+2*int64(n) > m.cfg.MaxHeldBytes {
		s.mu.Unlock()
		return nil, false, (&Error{
			Code: api.ProblemCodeCapacity, Retryable: true, RetryAfter: time.Second,
			Detail: fmt.Sprintf("the running episodes and snapshots of one owner may hold %d bytes; end some of yours, or send less", m.cfg.MaxHeldBytes),
		}).at(s)
	}
	o, octx := m.begin(s)
	r := s.run
	if key != "" {
		if r.keys == nil {
			r.keys = map[string]int{}
		}
		r.keys[key] = r.next
	}
	s.mu.Unlock()
	// A copy: what is kept of a step must not keep the whole body that it came in.
	go m.play(octx, s, o, r, &action, bytes.Clone(req.Action), arrived)
	rep := m.wait(ctx, s, o, req.TimeoutMs, api.ProblemCodeStepTimeout)
	return rep.step, false, rep.err
}

// Score grades the state as it stands and ends the episode as truncated by the
// client.
func (m *Manager) Score(ctx context.Context, who Who, id string) (*api.StepResult, error) {
	arrived := m.cfg.Now()
	s, e := m.find(who, id)
	if e != nil {
		return nil, e
	}
	s.mu.Lock()
	s.touch(arrived)
	if _, e := admit(s, api.StepRequest{}, ""); e != nil {
		s.mu.Unlock()
		return nil, e
	}
	o, octx := m.begin(s)
	r := s.run
	s.mu.Unlock()
	go m.play(octx, s, o, r, nil, json.RawMessage("null"), arrived)
	rep := m.wait(ctx, s, o, nil, api.ProblemCodeGradeTimeout)
	return rep.step, rep.err
}

// admit decides whether a step may run, or has its reply stored. The caller
// holds s.mu.
func admit(s *slot, req api.StepRequest, key string) (*api.StepResult, *Error) {
	refuse := func(c api.ProblemCode, detail string, retry bool) (*api.StepResult, *Error) {
		e := (&Error{Code: c, Detail: detail, Retryable: retry}).at(s)
		if c == api.ProblemCodeStepInProgress {
			e.RetryAfter = 50 * time.Millisecond
		}
		return nil, e
	}
	r := s.run
	switch {
	case s.closed:
		return nil, errEnvNotFound(s.id)
	case r == nil && s.busy != nil:
		return refuse(api.ProblemCodeStepInProgress, "a reset is under way", true)
	case r == nil:
		return refuse(api.ProblemCodeResetRequired, "the env was never reset", false)
	case req.EpisodeID != "" && req.EpisodeID != r.rec.Episode.EpisodeID:
		return refuse(api.ProblemCodeEpisodeOver, "the env plays another episode now", false)
	}
	at := -1
	if key != "" {
		if i, ok := r.keys[key]; ok {
			at = i
			if i < r.next-1 {
				return refuse(api.ProblemCodeStepConflict, "the idempotency key belongs to an earlier step", false)
			}
		}
	}
	if req.Step != nil {
		switch at = *req.Step; {
		case at < r.next-1:
			return refuse(api.ProblemCodeStepConflict, "the step was played already", false)
		case at > r.next:
			return refuse(api.ProblemCodeStepOutOfOrder, "the step is ahead of the episode", false)
		}
	}
	if at >= 0 && at == r.next-1 && r.last != nil {
		if sameAction(req.Action, r.action) {
			return r.last, nil
		}
		return refuse(api.ProblemCodeStepConflict, "the step was played already with another action", false)
	}
	switch {
	case s.busy != nil:
		return refuse(api.ProblemCodeStepInProgress, "another call runs on the env", true)
	case r.over:
		return refuse(api.ProblemCodeEpisodeOver, "the episode is over", false)
	}
	return nil, nil
}

// played is what one action, and the grading that a limit asked for, led to.
type played struct {
	out   envs.Outcome
	calls int
	size  int // bytes that it adds to the record
	stop  *api.StopReason
	late  bool // the action came after the wall time and was not played
	queue time.Duration
	exec  time.Duration
	grade time.Duration
	err   error
	at    Boundary
}

// play runs one action on the env and settles what it led to. A nil action is
// a request to grade.
func (m *Manager) play(ctx context.Context, s *slot, o *op, r *run, a *envs.Action, raw json.RawMessage, arrived time.Time) {
	defer m.active.Add(-1)
	limit := m.cfg.StepTimeout
	if a == nil {
		limit = m.cfg.GradeTimeout
	}
	env := s.env // busy keeps it ours
	run, leave := m.enter(ctx, s, o, limit)
	p := m.perform(run, env, r, a, len(raw), arrived)
	leave()

	s.mu.Lock()
	if o.gone {
		s.mu.Unlock()
		m.closeEnv(env)
		return
	}
	res, done := m.settle(s, r, p, raw)
	if s.closed && done == nil {
		done = m.finish(r, api.StatusClosed, nil)
	}
	s.busy = nil
	s.touch(m.cfg.Now())
	var drop envs.Env
	if p.err != nil || s.closed {
		drop, s.env = env, nil
	}
	closed := s.closed
	s.mu.Unlock()
	o.cancel()

	m.settleRecord(done)
	m.closeEnv(drop)
	if keeper, ok := m.rec.(Keeper); ok && done != nil {
		wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepWait)
		keeper.Kept(wait)
		cancel()
	}
	rep := opReply{step: res}
	switch {
	case closed && p.err != nil:
		rep = opReply{err: m.cutOff(s, r)}
	case p.err != nil:
		// The client sees a failed step; the cause is for our log alone.
		_ = m.broke(s.spec.Name, p.at, "step", p.err)
	default:
		m.obs.Stepped(s.spec.Name, p.queue, p.exec, p.grade)
	}
	o.reply <- rep
}

// addParts is the reward parts of an action and of the grading after it. Of
// one name and weight they become one.
func addParts(parts, more []envs.RewardPart) []envs.RewardPart {
	for _, q := range more {
		i := slices.IndexFunc(parts, func(p envs.RewardPart) bool {
			return p.Name == q.Name && p.Kind == q.Kind && p.Weight == q.Weight
		})
		if i < 0 {
			parts = append(parts, q)
			continue
		}
		parts[i].Value += q.Value
	}
	return parts
}

// maxRecordBytes ends an episode whose record has grown so long that it could
// not be kept: one that nobody can record must not be played on, and a record
// waits in memory for its end.
const maxRecordBytes = 64 << 20

// largeAction is the length from which an action needs room among what its
// owner's episodes hold.
const largeAction = 64 << 10

// perform plays an action, of which sent bytes came, or grades where there is
// none.
func (m *Manager) perform(ctx context.Context, env envs.Env, r *run, a *envs.Action, sent int, arrived time.Time) (p played) {
	start := m.cfg.Now()
	p.queue = start.Sub(arrived)
	r.deadline = r.deadline.Add(p.queue) // to wait for others is not the episode's time
	stop := func(s api.StopReason) { p.stop = &s }
	switch {
	case a == nil:
		stop(api.StopReasonClient)
	case start.After(r.deadline):
		p.late = true
		stop(api.StopReasonWallTime)
	default:
		act := *a
		var dropped []envs.ToolCall
		if left := r.limits.MaxToolCalls - r.calls; len(act.ToolCalls) > left {
			act.ToolCalls, dropped = act.ToolCalls[:left], act.ToolCalls[left:]
		}
		p.out, p.at, p.err = safely(func() (envs.Outcome, error) { return env.Step(ctx, act) })
		end := m.cfg.Now()
		p.exec = end.Sub(start)
		if p.err != nil {
			if p.at == "" {
				p.at = BoundaryStep
			}
			return p
		}
		if len(dropped) > 0 {
			p.out.Observation = withoutRun(p.out.Observation, dropped)
		}
		p.calls = len(act.ToolCalls)
		if p.calls == 0 && p.out.Info.Action != nil {
			p.calls = 1
		}
		p.size = 2*sent + weight(p.out.Observation) // an action is there as sent and as understood
		switch {
		case p.out.Terminated:
		case r.next+1 >= r.limits.MaxSteps:
			stop(api.StopReasonMaxSteps)
		case r.calls+p.calls >= r.limits.MaxToolCalls, r.size+p.size >= maxRecordBytes:
			stop(api.StopReasonBudget)
		case end.After(r.deadline):
			stop(api.StopReasonWallTime)
		}
		start = end
	}
	if p.stop != nil {
		var last envs.Outcome
		last, p.at, p.err = safely(func() (envs.Outcome, error) { return env.Score(ctx) })
		p.grade = m.cfg.Now().Sub(start)
		if p.err != nil {
			if p.at == "" {
				p.at = BoundaryGrade
			}
			return p
		}
		if a == nil || p.late {
			p.out = last
		} else {
			p.out.Reward += last.Reward
			p.out.Parts = addParts(p.out.Parts, last.Parts)
			p.out.Grade = last.Grade
		}
		p.out.Terminated = false
	}
	if math.IsNaN(p.out.Reward) || math.IsInf(p.out.Reward, 0) {
		p.at, p.err = BoundaryGrade, errReward
	}
	return p
}
