package rollout

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/trainer/policy"
)

// run is the state of one Play.
type run struct {
	c      *Collector
	p      Player
	key    policy.StreamKey
	sample policy.SampleConfig

	episodes []Episode
	attempts []int
	queue    []int // jobs to start
	byPlayer map[int]*live
	replies  chan reply
	wg       sync.WaitGroup
	inFlight int
	busy     int // places in use
	limit    int // places there are
	times    Times
}

// live is one episode being played.
type live struct {
	job     int
	env     string
	conn    Conn
	episode int  // of the player
	begun   bool // the player has it
	step    int
	sent    time.Time
}

// reply is what a call to the server came back with.
type reply struct {
	l     *live
	reset *api.ResetResult
	step  *api.StepResult
	env   string // made by the call, or the one it had
	score bool
	err   error
	took  time.Duration
}

func (r *run) loop(ctx context.Context) error {
	for i := range r.episodes {
		r.queue = append(r.queue, i)
	}
	for {
		if err := r.fill(ctx); err != nil {
			return err
		}
		// Take what has arrived; wait only when the player is idle.
		for drained := false; !drained; {
			select {
			case rep := <-r.replies:
				if err := r.handle(ctx, rep); err != nil {
					return err
				}
			default:
				drained = true
			}
		}
		t0 := time.Now()
		ready := r.p.Step()
		r.times.Policy += time.Since(t0)
		for _, e := range ready {
			r.act(ctx, r.byPlayer[e])
		}
		if ready != nil || len(r.queue) > 0 && r.inFlight == 0 {
			continue
		}
		if r.owing() {
			continue
		}
		if r.inFlight == 0 {
			return ctx.Err()
		}
		t0 = time.Now()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case rep := <-r.replies:
			r.times.Wait += time.Since(t0)
			if err := r.handle(ctx, rep); err != nil {
				return err
			}
		}
	}
}

// owing reports whether the player still has an action to pick.
func (r *run) owing() bool { return len(r.byPlayer) > r.waiting() }

// waiting counts the player's episodes that wait for the server.
func (r *run) waiting() int {
	n := 0
	for _, l := range r.byPlayer {
		if !l.sent.IsZero() {
			n++
		}
	}
	return n
}

// fill starts queued jobs while there are places for them. A place is an env
// that is free or one that the call makes first.
func (r *run) fill(ctx context.Context) error {
	for len(r.queue) > 0 && r.busy < r.limit {
		if err := r.c.ensure(ctx); err != nil {
			return err
		}
		l := &live{job: r.queue[0], conn: r.c.conn}
		r.queue = r.queue[1:]
		if n := len(r.c.free) - 1; n >= 0 {
			l.env, r.c.free = r.c.free[n], r.c.free[:n]
		}
		r.busy++
		r.attempts[l.job]++
		job, env := r.episodes[l.job].Job, l.env
		r.send(l, func() reply {
			if env == "" {
				ttl := envTTL
				e, err := l.conn.Create(ctx, api.CreateEnvRequest{Type: r.c.cfg.EnvType, TTLSeconds: &ttl})
				if err != nil {
					return reply{l: l, err: err}
				}
				env = e.EnvID
			}
			req := api.ResetRequest{TaskID: job.TaskID, GroupID: job.GroupID, Seed: &job.Seed, PolicyVersion: strconv.FormatUint(r.key.Update, 10)}
			if job.TaskID == "" {
				req.Split, req.Index = api.Split(job.Split), &job.Index
			}
			if r.c.cfg.MaxSteps > 0 {
				req.Limits = &api.Limits{MaxSteps: &r.c.cfg.MaxSteps}
			}
			res, err := l.conn.Reset(ctx, env, req)
			return reply{l: l, env: env, reset: &res, err: err}
		})
	}
	return nil
}

// send makes a call in a goroutine of its own; its reply goes to the loop.
func (r *run) send(l *live, call func() reply) {
	r.inFlight++
	l.sent = time.Now()
	r.wg.Go(func() {
		rep := call()
		rep.took = time.Since(l.sent)
		r.replies <- rep // has room for every live episode
	})
}

// act sends the action that the player picked for l.
func (r *run) act(ctx context.Context, l *live) {
	text := r.p.Action(l.episode)
	ep := &r.episodes[l.job]
	ep.Turns[len(ep.Turns)-1].Action = text
	step := l.step
	r.send(l, func() reply {
		res, err := l.conn.Step(ctx, l.env, api.StepRequest{Action: api.TextAction(text), Step: &step})
		return reply{l: l, step: &res, err: err}
	})
}

// score ends an episode that has no room for another action.
func (r *run) score(ctx context.Context, l *live) {
	r.episodes[l.job].NoRoom = true
	r.send(l, func() reply {
		res, err := l.conn.Score(ctx, l.env)
		return reply{l: l, step: &res, score: true, err: err}
	})
}
