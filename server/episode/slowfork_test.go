package episode_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/internal/toy"
)

// gate holds up whoever comes to it while it is shut.
type gate struct {
	mu   sync.Mutex
	shut chan struct{} // nil while it is open
	came chan struct{}
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut, g.came = make(chan struct{}), make(chan struct{}, 64)
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		close(g.shut)
		g.shut = nil
	}
}

func (g *gate) pass() {
	g.mu.Lock()
	shut, came := g.shut, g.came
	g.mu.Unlock()
	if shut != nil {
		came <- struct{}{}
		<-shut
	}
}

// behind is a recorder that takes nothing while its gate is shut.
type behind struct{ gate }

func (b *behind) Started(episode.Record) { b.pass() }
func (b *behind) Ended(episode.Record)   {}

// slowType is the toy whose copies wait at a gate.
type slowType struct {
	toy.Type
	gate
}

type slowEnv struct {
	envs.Env
	t *slowType
}

func (s *slowType) New(ctx context.Context) (envs.Env, error) {
	e, err := s.Type.New(ctx)
	return &slowEnv{e, s}, err
}

func (e *slowEnv) Fork(ctx context.Context) (envs.Env, error) {
	e.t.pass()
	f, _ := e.Env.(envs.Forker)
	c, err := f.Fork(ctx)
	return &slowEnv{c, e.t}, err
}

// While a copy waits, for the disk or for its own env type, everything else
// goes on: other envs are stepped, all are listed, and old ones expire.
func TestACopyThatWaitsHoldsUpNothing(t *testing.T) {
	rec, typ := &behind{}, &slowType{}
	reg := &envs.Registry{}
	reg.Register(typ)
	g := &game{t: t, toy: &typ.Type, Manager: episode.New(episode.Config{}, reg, rec, nil)}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		g.Drain(ctx)
		if n := typ.Open.Load(); n != 0 {
			t.Errorf("%d envs were never closed", n)
		}
	})
	from, other := g.start(api.ResetRequest{}), g.start(api.ResetRequest{})
	snap, err := g.Snapshot(t.Context(), me, from)
	if err != nil {
		t.Fatal(err)
	}
	brief, err := g.Snapshot(t.Context(), me, from) // dropped while it is being copied
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		gate *gate
		fork func() ([]api.Env, error)
	}{
		"a fork for the disk": {&rec.gate, func() ([]api.Env, error) { return g.Fork(t.Context(), me, from, 1) }},
		"a snapshot for the disk": {&rec.gate, func() ([]api.Env, error) {
			c, _, err := g.Create(t.Context(), me, api.CreateEnvRequest{FromSnapshot: snap}, "", nil)
			return c.Envs, err
		}},
		"a fork for its type": {&typ.gate, func() ([]api.Env, error) { return g.Fork(t.Context(), me, from, 1) }},
		"a snapshot for its type": {&typ.gate, func() ([]api.Env, error) {
			c, _, err := g.Create(t.Context(), me, api.CreateEnvRequest{FromSnapshot: brief}, "", nil)
			return c.Envs, err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.gate.close()
			var made []api.Env
			var forked sync.WaitGroup
			forked.Go(func() {
				var err error
				if made, err = tt.fork(); err != nil {
					t.Error(err)
				}
			})
			defer forked.Wait()
			defer tt.gate.open()
			<-tt.gate.came
			rest := make(chan struct{})
			go func() {
				defer close(rest)
				g.Sweep()
				if name == "a snapshot for its type" {
					if err := g.DropSnapshot(me, brief); err != nil {
						t.Error(err)
					}
				}
				for _, e := range g.Envs(me) {
					if e.EnvID != from && e.EnvID != other && e.EpisodeID != "" {
						_, _, err := g.Step(t.Context(), me, e.EnvID, api.StepRequest{Action: api.TextAction("noop")}, "")
						if code(err) != api.ProblemCodeStepInProgress {
							t.Errorf("a copy was stepped before it was recorded: %v", err)
						}
					}
				}
				if _, _, err := g.Create(t.Context(), me, api.CreateEnvRequest{Type: "toy"}, "", nil); err != nil {
					t.Error(err)
				}
				g.step(other, "noop")
			}()
			select {
			case <-rest:
			case <-time.After(10 * time.Second):
				t.Error("the rest waits too")
			}
			tt.gate.open()
			forked.Wait()
			<-rest
			for _, e := range made {
				g.step(e.EnvID, "noop")
				if err := g.Close(me, e.EnvID); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A copy that is ended while it waits for the disk is closed and recorded.
func TestACopyThatIsEndedWhileItWaits(t *testing.T) {
	rec := &behindTape{}
	reg := &envs.Registry{}
	typ := &toy.Type{}
	reg.Register(typ)
	g := &game{t: t, toy: typ, Manager: episode.New(episode.Config{}, reg, rec, nil)}
	from := g.start(api.ResetRequest{})
	rec.close()
	var forked sync.WaitGroup
	forked.Go(func() {
		if _, err := g.Fork(t.Context(), me, from, 1); err != nil {
			t.Error(err)
		}
	})
	<-rec.came
	for _, e := range g.Envs(me) {
		if e.EnvID != from {
			if err := g.Close(me, e.EnvID); err != nil {
				t.Error(err)
			}
		}
	}
	rec.open()
	forked.Wait()
	if es := g.Envs(me); len(es) != 1 {
		t.Errorf("%d envs live", len(es))
	}
	if r := rec.last(t); r.Episode.Status != api.StatusClosed || r.Episode.ForkedFrom == nil {
		t.Errorf("%+v", r.Episode)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	g.Drain(ctx)
	if n := typ.Open.Load(); n != 0 {
		t.Errorf("%d envs were never closed", n)
	}
}

// behindTape is a behind that keeps what ended.
type behindTape struct {
	tape
	gate
}

// Started waits at the gate.
func (b *behindTape) Started(episode.Record) { b.pass() }
