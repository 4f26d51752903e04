package rollout

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/proctor-rl/proctor/api"
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
			c.log.DebugContext(ctx, "connection closed with an error", "err", e)
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
		c.log.WarnContext(ctx, "server not reachable", "attempt", attempt+1, "err", err)
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
