package rollout

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/client"
	"github.com/proctor-rl/proctor/trainer/policy"
)

// Conn is what a Collector needs of a connection; *client.Conn is one. Calls
// may overlap.
type Conn interface {
	Create(ctx context.Context, req api.CreateEnvRequest) (api.Env, error)
	Reset(ctx context.Context, envID string, req api.ResetRequest) (api.ResetResult, error)
	Step(ctx context.Context, envID string, req api.StepRequest) (api.StepResult, error)
	Score(ctx context.Context, envID string) (api.StepResult, error)
	CloseEnv(ctx context.Context, envID string) error
	Close() error
}

// Config are the settings of a Collector.
type Config struct {
	EnvType  string
	Live     int           // episodes at once
	Retries  int           // further attempts after a failure of ours
	MaxSteps int           // actions in an episode; 0 is the env type's default
	Backoff  time.Duration // before the first reconnection; doubles each time
}

// envTTL is how long an env may stay unused, in seconds: longer than any update.
const envTTL = 3600

// Collector plays episodes. It is used by one goroutine; Close it when done.
type Collector struct {
	cfg  Config
	dial func(context.Context) (Conn, error)
	log  *slog.Logger

	conn Conn
	free []string // idle envs of conn
}

// New is a Collector that dials when it first needs a connection and again
// when one broke.
func New(cfg Config, dial func(context.Context) (Conn, error), log *slog.Logger) *Collector {
	if cfg.Backoff == 0 {
		cfg.Backoff = 100 * time.Millisecond
	}
	return &Collector{cfg: cfg, dial: dial, log: log}
}

// Close ends the connection.
func (c *Collector) Close() error {
	if c.conn == nil {
		return nil
	}
	err := c.conn.Close()
	c.conn, c.free = nil, nil
	return err
}

// Times says where the time of a Play went.
type Times struct {
	Total  time.Duration
	Policy time.Duration // picking actions
	Wait   time.Duration // nothing to do but wait for the server
	Tokens int           // of all episodes
	Chosen int           // of them sampled
}

// Play plays the jobs and returns their episodes in the order of the jobs. key
// is completed by each job's Task and Member. An error means that nothing can
// be played: the server is gone or ctx is done.
func (c *Collector) Play(ctx context.Context, p Player, key policy.StreamKey, sample policy.SampleConfig, jobs []Job) ([]Episode, Times, error) {
	ctx, cancel := context.WithCancel(ctx)
	r := &run{
		c: c, p: p, key: key, sample: sample,
		episodes: make([]Episode, len(jobs)), attempts: make([]int, len(jobs)),
		byPlayer: map[int]*live{}, replies: make(chan reply, c.cfg.Live), limit: c.cfg.Live,
	}
	for i := range jobs {
		r.episodes[i].Job = jobs[i]
	}
	start := time.Now()
	err := r.loop(ctx)
	cancel()
	r.wg.Wait() // every call has been answered or cancelled
	if err != nil {
		// Envs in an unknown state are not worth keeping.
		if e := c.Close(); e != nil {
			c.log.Debug("connection closed with an error", "err", e)
		}
		return nil, r.times, err
	}
	r.times.Total = time.Since(start)
	for i := range r.episodes {
		r.times.Tokens += len(r.episodes[i].Record.Tokens)
		for _, m := range r.episodes[i].Record.Mask {
			if m {
				r.times.Chosen++
			}
		}
	}
	return r.episodes, r.times, nil
}

// ensure makes a connection.
func (c *Collector) ensure(ctx context.Context) error {
	wait := c.cfg.Backoff
	for attempt := 0; c.conn == nil; attempt++ {
		conn, err := c.dial(ctx)
		if err == nil {
			c.conn = conn
			break
		}
		if ctx.Err() != nil || attempt >= 5 {
			return fmt.Errorf("connect: %w", err)
		}
		c.log.Warn("server not reachable", "attempt", attempt+1, "err", err)
		if err := sleep(ctx, wait); err != nil {
			return err
		}
		wait *= 2
	}
	return nil
}

// sleep waits, or returns ctx's error.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// drop forgets a broken connection.
func (c *Collector) drop() {
	if c.conn != nil {
		if err := c.conn.Close(); err != nil {
			c.log.Debug("connection closed with an error", "err", err)
		}
	}
	c.conn, c.free = nil, nil
}

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
				r.c.log.Debug("env not closed", "err", err)
			}
		})
	}
	ep := &r.episodes[l.job]
	if r.attempts[l.job] <= r.c.cfg.Retries {
		r.c.log.Debug("episode failed, playing it again", "task_id", ep.TaskID, "err", err)
		r.queue = append(r.queue, l.job)
		return
	}
	r.c.log.Warn("episode excluded", "task_id", ep.TaskID, "attempts", r.attempts[l.job], "err", err)
	job := ep.Job
	*ep = Episode{Job: job, TaskID: ep.TaskID, EpisodeID: ep.EpisodeID, Public: ep.Public, Attempts: r.attempts[l.job], Status: string(api.StatusFailed), Failure: err.Error()}
}
