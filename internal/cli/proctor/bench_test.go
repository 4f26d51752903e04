package proctor

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/client"
	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/all"
)

// What every benchmark plays: episodes of five steps in the smallest world.
const (
	benchType  = "react-mini"
	benchEnvs  = 64
	benchSteps = 5
)

func benchAction(step int) string {
	if step == benchSteps-1 {
		return "Thought: I know it.\nAction: finish[42]"
	}
	return fmt.Sprintf("Thought: I need page %d first.\nAction: search[page %d]", step, step)
}

// BenchmarkStepInProcess is the env alone: what the others pay besides.
func BenchmarkStepInProcess(b *testing.B) {
	var reg envs.Registry
	if err := all.Register(&reg, all.Options{}); err != nil {
		b.Fatal(err)
	}
	typ, err := reg.Get(benchType)
	if err != nil {
		b.Fatal(err)
	}
	many(b, func(ctx context.Context, next func() bool) error {
		env, err := typ.New(ctx)
		if err != nil {
			return err
		}
		defer env.Close() // nothing is held
		for n := 0; ; n++ {
			task, err := typ.Tasks().At(envs.SplitTrain, n)
			if err != nil {
				return err
			}
			if _, err := env.Reset(ctx, envs.Start{Task: task, Seed: int64(n), Limits: typ.Spec().Limits}); err != nil {
				return err
			}
			for i := range benchSteps {
				if !next() {
					return nil
				}
				if _, err := env.Step(ctx, envs.Action{Text: benchAction(i)}); err != nil {
					return err
				}
			}
		}
	})
}

// BenchmarkStepREST is a request a step.
func BenchmarkStepREST(b *testing.B) {
	url := benchServer(b)
	c, err := client.New(url, client.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	many(b, func(ctx context.Context, next func() bool) error { return benchPlay(ctx, c, next) })
}

// BenchmarkStepSocket is a frame a step, all envs on one socket.
func BenchmarkStepSocket(b *testing.B) {
	c := benchDial(b, benchServer(b))
	many(b, func(ctx context.Context, next func() bool) error { return benchPlay(ctx, c, next) })
}

// BenchmarkStepSockets is a frame a step, a socket for every eight envs.
func BenchmarkStepSockets(b *testing.B) {
	url := benchServer(b)
	conns := make([]*client.Conn, benchEnvs/8)
	for i := range conns {
		conns[i] = benchDial(b, url)
	}
	var n atomic.Int64
	many(b, func(ctx context.Context, next func() bool) error {
		return benchPlay(ctx, conns[int(n.Add(1))%len(conns)], next)
	})
}

// BenchmarkStepBatch is a frame for a step of every env.
func BenchmarkStepBatch(b *testing.B) {
	c := benchDial(b, benchServer(b))
	ctx := b.Context()
	ids := make([]string, benchEnvs)
	for i := range ids {
		env, err := c.Create(ctx, api.CreateEnvRequest{Type: benchType})
		if err != nil {
			b.Fatal(err)
		}
		ids[i] = env.EnvID
	}
	items := make([]api.BatchStepItem, benchEnvs)
	b.ResetTimer()
	done := 0
	for n := 0; done < b.N; n++ {
		for _, id := range ids {
			if _, err := c.Reset(ctx, id, api.ResetRequest{Split: envs.SplitTrain, Index: &n}); err != nil {
				b.Fatal(err)
			}
		}
		for i := 0; i < benchSteps && done < b.N; i++ {
			for j, id := range ids {
				items[j] = api.BatchStepItem{EnvID: id, Action: api.TextAction(benchAction(i)), Step: &i}
			}
			res, err := c.BatchStep(ctx, api.BatchStepRequest{Items: items})
			if err != nil || res.Items[0].Problem != nil {
				b.Fatal(err, res.Items[0].Problem)
			}
			done += len(items)
		}
	}
	b.ReportMetric(float64(done)/b.Elapsed().Seconds(), "steps/s")
}

func benchServer(b *testing.B) string {
	b.Helper()
	url, stop := start(b, "--sandbox", sandboxNone, "--data", b.TempDir(), "--log-level", "warn")
	b.Cleanup(func() { stop() })
	return url
}

func benchDial(b *testing.B, url string) *client.Conn {
	b.Helper()
	c, err := client.Dial(b.Context(), url, client.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	return c
}

// player is what REST and a socket have in common.
type player interface {
	Create(ctx context.Context, req api.CreateEnvRequest) (api.Env, error)
	Reset(ctx context.Context, envID string, req api.ResetRequest) (api.ResetResult, error)
	Step(ctx context.Context, envID string, req api.StepRequest) (api.StepResult, error)
}

func benchPlay(ctx context.Context, c player, next func() bool) error {
	env, err := c.Create(ctx, api.CreateEnvRequest{Type: benchType})
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		if _, err := c.Reset(ctx, env.EnvID, api.ResetRequest{Split: envs.SplitTrain, Index: &n}); err != nil {
			return err
		}
		for i := range benchSteps {
			if !next() {
				return nil
			}
			if _, err := c.Step(ctx, env.EnvID, api.StepRequest{Action: api.TextAction(benchAction(i)), Step: &i}); err != nil {
				return err
			}
		}
	}
}

// many runs f for each env at one time until b.N steps are played.
func many(b *testing.B, f func(ctx context.Context, next func() bool) error) {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(b.N))
	next := func() bool { return left.Add(-1) >= 0 }
	var wg sync.WaitGroup
	b.ResetTimer()
	for range benchEnvs {
		wg.Go(func() {
			if err := f(b.Context(), next); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}
