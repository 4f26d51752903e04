package episode_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/internal/toy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var me = episode.Who{Owner: "me"}

type tape struct {
	mu    sync.Mutex
	ended []episode.Record
}

func (*tape) Started(episode.Record) {}

func (r *tape) Ended(rec episode.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = append(r.ended, rec)
}

func (r *tape) last(t *testing.T) episode.Record {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ended) == 0 {
		t.Fatal("nothing was recorded")
	}
	return r.ended[len(r.ended)-1]
}

type game struct {
	*episode.Manager
	t    *testing.T
	toy  *toy.Type
	rec  *tape
	tick atomic.Int64 // added to the clock, in seconds
}

func play(t *testing.T, cfg episode.Config) *game {
	g := &game{t: t, toy: &toy.Type{}, rec: &tape{}}
	cfg.Now = func() time.Time { return time.Now().Add(time.Duration(g.tick.Load()) * time.Second) }
	reg := &envs.Registry{}
	reg.Register(g.toy)
	g.Manager = episode.New(cfg, reg, g.rec, nil)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		g.Drain(ctx)
		if n := g.toy.Open.Load(); n != 0 {
			t.Errorf("%d envs were never closed", n)
		}
	})
	return g
}

func (g *game) start(req api.ResetRequest) string {
	g.t.Helper()
	c, _, err := g.Create(g.t.Context(), me, api.CreateEnvRequest{Type: "toy"}, "", nil)
	if err != nil {
		g.t.Fatal(err)
	}
	if _, _, err := g.Reset(g.t.Context(), me, c.Envs[0].EnvID, req, ""); err != nil {
		g.t.Fatal(err)
	}
	return c.Envs[0].EnvID
}

func (g *game) step(id, action string) *api.StepResult {
	g.t.Helper()
	r, _, err := g.Step(g.t.Context(), me, id, api.StepRequest{Action: api.TextAction(action)}, "")
	if err != nil {
		g.t.Fatal(err)
	}
	return r
}

func code(err error) api.ProblemCode {
	var e *episode.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func limits(steps, wall, obs, calls int) *api.Limits {
	l := &api.Limits{}
	for v, p := range map[int]**int{steps: &l.MaxSteps, wall: &l.WallTimeSeconds, obs: &l.MaxObservationBytes, calls: &l.MaxToolCalls} {
		if v > 0 {
			n := v
			*p = &n
		}
	}
	return l
}
