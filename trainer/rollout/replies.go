package rollout

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/client"
)

// handle takes up one reply. An error means that the request itself was wrong,
// which playing again cannot mend.
func (r *run) handle(ctx context.Context, rep reply) error {
	r.inFlight--
	l := rep.l
	l.sent = time.Time{}
	if rep.env != "" {
		l.env = rep.env
	}
	switch {
	case refused(rep.err):
		r.finish(l, true)
		return fmt.Errorf("the server refuses to play: %w", rep.err)
	case client.CodeOf(rep.err) == api.ProblemCodeCapacity && l.env == "" && r.busy > 1:
		// Fewer places than wished for: go on with those there are.
		r.busy--
		r.attempts[l.job]--
		r.limit = min(r.limit, r.busy)
		r.queue = append(r.queue, l.job)
	case rep.err != nil:
		r.fail(ctx, l, rep.err)
	case rep.reset != nil:
		r.onReset(ctx, l, rep.reset)
	default:
		r.onStep(ctx, l, rep)
	}
	return nil
}

// refused reports whether the server rejected a request as wrong, rather than
// failed or lost an env.
func refused(err error) bool {
	var e *client.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity:
		return true
	}
	return e.Code == api.ProblemCodeEnvTypeNotFound || e.Code == api.ProblemCodeTaskNotFound
}

func (r *run) onReset(ctx context.Context, l *live, res *api.ResetResult) {
	ep := &r.episodes[l.job]
	*ep = Episode{Job: ep.Job, TaskID: res.Task.TaskID, EpisodeID: res.EpisodeID, Public: res.Task.Public}
	ep.Turns = []Turn{{Observation: res.Observation.Text}}
	key := r.key
	key.Task, key.Member = ep.Job.Task, ep.Job.Member
	e, ok := r.p.Begin(key, r.sample, res.Observation.Text)
	if !ok {
		ep.Turns = nil
		r.score(ctx, l)
		return
	}
	l.episode, l.begun = e, true
	r.byPlayer[e] = l
}

func (r *run) onStep(ctx context.Context, l *live, rep reply) {
	ep, res := &r.episodes[l.job], rep.step
	ep.addParts(res.RewardParts)
	if !rep.score && len(ep.Turns) > 0 {
		t := &ep.Turns[len(ep.Turns)-1]
		t.StateKey, t.ParseError, t.ToolError = res.StateKey, res.Info.ParseError, res.Info.ToolError
		t.EnvMillis = float64(rep.took) / float64(time.Millisecond)
		if res.Reward != nil {
			t.Reward = *res.Reward
		}
		l.step++
	}
	switch {
	case res.Status == api.StatusFailed || res.Done && (res.Return == nil || res.Reward == nil):
		r.fail(ctx, l, fmt.Errorf("episode %s failed on the server", res.EpisodeID))
	case res.Done:
		ep.Reward, ep.Valid = *res.Return, true
		if rep.score && len(ep.Turns) > 0 {
			// The grade came after the last action, without an action of its own.
			ep.Turns[len(ep.Turns)-1].Reward += *res.Reward
		}
		ep.Status = string(res.Status)
		if res.StopReason != nil {
			ep.StopReason = string(*res.StopReason)
		}
		if res.Grade != nil {
			ep.Passed = res.Grade.Passed
			ep.Flags = res.Grade.Integrity.Flags
		}
		ep.Final = res.Observation.Text
		r.finish(l, true)
	case !r.p.Observe(l.episode, res.Observation.Text):
		ep.Final = res.Observation.Text
		r.score(ctx, l)
	default:
		ep.Turns = append(ep.Turns, Turn{Observation: res.Observation.Text})
	}
}

// finish takes l out of the player; its env can be used again if sound.
func (r *run) finish(l *live, sound bool) {
	ep := &r.episodes[l.job]
	ep.Attempts = r.attempts[l.job]
	if l.begun {
		delete(r.byPlayer, l.episode)
		ep.Record = r.p.End(l.episode)
	}
	r.busy--
	if sound && l.conn == r.c.conn {
		r.c.free = append(r.c.free, l.env)
	}
}

// fail is what becomes of an episode that our side could not play: another
// attempt with the same seed and stream, or no reward at all.
func (r *run) fail(ctx context.Context, l *live, err error) {
	if errors.Is(err, client.ErrClosed) && l.conn == r.c.conn {
		r.c.drop()
	}
	r.finish(l, false)
	if l.conn == r.c.conn && l.env != "" {
		// Whatever state the env is in, it is not played on; nothing waits for
		// its end, which the server's own clean-up would see to as well.
		r.wg.Go(func() {
			if err := l.conn.CloseEnv(ctx, l.env); err != nil {
				r.c.log.DebugContext(ctx, "env not closed", "err", err)
			}
		})
	}
	ep := &r.episodes[l.job]
	if r.attempts[l.job] <= r.c.cfg.Retries {
		r.c.log.DebugContext(ctx, "episode failed, playing it again", "task_id", ep.TaskID, "err", err)
		r.queue = append(r.queue, l.job)
		return
	}
	r.c.log.WarnContext(ctx, "episode excluded", "task_id", ep.TaskID, "attempts", r.attempts[l.job], "err", err)
	job := ep.Job
	*ep = Episode{Job: job, TaskID: ep.TaskID, EpisodeID: ep.EpisodeID, Public: ep.Public, Attempts: r.attempts[l.job], Status: string(api.StatusFailed), Failure: err.Error()}
}
