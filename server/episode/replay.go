package episode

import (
	"bytes"
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/envs"
)

// Replay plays the actions of an ended episode on a fresh env and says where
// the first byte differs.
func (m *Manager) Replay(ctx context.Context, rec Record) (api.ReplayResult, error) {
	ep := rec.Episode
	if m.draining.Load() {
		return api.ReplayResult{}, errDraining()
	}
	if ep.Status == api.StatusRunning {
		return api.ReplayResult{}, &Error{Code: api.ProblemCodeStepInProgress, Detail: "the episode still runs", Retryable: true, EpisodeID: ep.EpisodeID}
	}
	typ, err := m.reg.Get(ep.Type)
	if err != nil {
		return api.ReplayResult{}, errTypeNotFound()
	}
	spec := typ.Spec()
	if !spec.Can.Replay || spec.Version != ep.Version {
		return api.ReplayResult{}, NotSupported("the env type, or its version served now, cannot replay the episode")
	}
	task, err := typ.Tasks().Find(ep.TaskID)
	if err != nil {
		return api.ReplayResult{}, errTaskNotFound("the episode's task is no longer served")
	}
	limits, e := resolveLimits(spec, DefaultLimits(spec), &ep.Limits)
	if e != nil {
		return api.ReplayResult{}, e
	}
	// A replay takes its turn on the machine as any step does.
	m.active.Add(1)
	defer m.active.Add(-1)
	ctx, cancelAll := context.WithCancel(ctx)
	defer cancelAll()
	defer context.AfterFunc(m.over, cancelAll)()
	defer m.turn(ctx, typ)()
	if ctx.Err() != nil {
		return api.ReplayResult{}, errReplayCut(ctx)
	}
	env, err := m.newEnv(ctx, typ, spec.Name)
	if err != nil {
		return api.ReplayResult{}, err
	}
	defer m.closeEnv(env)
	run := &run{limits: limits, held: &atomic.Int64{}, deadline: m.cfg.Now().Add(time.Hour * 24 * 365)}
	rctx, cancel := context.WithTimeout(ctx, m.cfg.ResetTimeout)
	defer cancel()
	var first envs.Observation
	_, at, err := safely(func() (out envs.Outcome, err error) {
		first, err = env.Reset(rctx, envs.Start{Task: task, Seed: ep.Seed, Limits: limits})
		return out, err
	})
	if err != nil {
		return api.ReplayResult{}, m.broke(spec.Name, at, "replay", err)
	}
	out := api.ReplayResult{Identical: true}
	differ := func(step int, field string) (api.ReplayResult, error) {
		out.Identical = false
		out.FirstDivergence = &api.Divergence{Step: step, Field: field}
		return out, nil
	}
	if f := differs(wireObservation(first, limits.MaxObservationBytes), rec.Reset); f != "" {
		return differ(-1, f)
	}
	for i, st := range rec.Steps {
		if st.Status == api.StatusFailed || st.Status == api.StatusClosed {
			break // our side broke there; there is nothing to compare with
		}
		p := m.again(ctx, env, run, st, rec.Unplayed && i == len(rec.Steps)-1)
		if ctx.Err() != nil {
			return api.ReplayResult{}, errReplayCut(ctx)
		}
		if p.err != nil {
			return differ(st.Step, "status")
		}
		run.next++
		run.calls += p.calls
		run.size += p.size
		out.Steps++
		if f := differs(wireObservation(p.out.Observation, limits.MaxObservationBytes), st.Observation); f != "" {
			return differ(st.Step, f)
		}
		switch {
		case st.Reward == nil || p.out.Reward != *st.Reward:
			return differ(st.Step, "reward")
		case p.out.Terminated != st.Terminated:
			return differ(st.Step, "terminated")
		case p.out.StateKey != st.StateKey:
			return differ(st.Step, "state_key")
		}
	}
	return out, nil
}

// errReplayCut is for a replay that was not finished: it says nothing about
// the episode.
func errReplayCut(ctx context.Context) *Error {
	return &Error{Code: api.ProblemCodeStepTimeout, Detail: "the replay was given up before its end", Retryable: true, Cause: ctx.Err()}
}

// again plays a stored step once more, with the same end.
func (m *Manager) again(ctx context.Context, env envs.Env, r *run, st api.Step, unplayed bool) played {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.StepTimeout)
	defer cancel()
	if unplayed || bytes.Equal(st.Action, []byte("null")) {
		return m.perform(ctx, env, r, nil, 0, m.cfg.Now())
	}
	a, e := parseAction(st.Action)
	if e != nil {
		return played{err: e}
	}
	at := *r
	if st.StopReason != nil && *st.StopReason == api.StopReasonWallTime {
		at.limits.MaxSteps = at.next + 1 // end it here, whatever the clock says now
	}
	return m.perform(ctx, env, &at, &a, len(st.Action), m.cfg.Now())
}

// differs names the part in which two observations differ, or is empty.
func differs(a, b api.Observation) string {
	switch {
	case a.Text != b.Text:
		return "observation.text"
	case !sameJSON(a.Messages, b.Messages):
		return "observation.messages"
	case !sameJSON(a.Data, b.Data):
		return "observation.data"
	case !sameJSON(a.Elided, b.Elided):
		return "observation.elided"
	}
	return ""
}

func sameJSON(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}
