package server_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/client"
	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/internal/strict"
)

func long() api.Limits {
	n := 1000
	return api.Limits{MaxSteps: &n, MaxToolCalls: &n}
}

// cpu is the processor time this process has used, client and server together.
// On a shared machine it says more than the clock.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkManagerStep is a step without any transport.
func BenchmarkManagerStep(b *testing.B) {
	w := serve(b, episode.Config{}, server.Config{})
	who := episode.Who{Owner: "local"}
	l := long()
	id, _ := w.env(nil)
	b.ReportAllocs()
	used := cpu()
	for i := 0; b.Loop(); i++ {
		if i%999 == 0 {
			if _, _, err := w.mgr.Reset(b.Context(), who, id, api.ResetRequest{Limits: &l}, ""); err != nil {
				b.Fatal(err)
			}
		}
		if _, _, err := w.mgr.Step(b.Context(), who, id, api.StepRequest{Action: []byte(`"noop"`)}, ""); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpu()-used).Microseconds())/float64(b.N), "cpu-µs/step")
}

// BenchmarkSocketSteps is round trips over one or many sockets of the client,
// client and server sharing the machine.
func BenchmarkSocketSteps(b *testing.B) {
	for _, c := range []struct{ conns, envs int }{{1, 1}, {1, 64}, {64, 64}} {
		b.Run(fmt.Sprintf("conns=%d/envs=%d", c.conns, c.envs), func(b *testing.B) {
			w := serve(b, episode.Config{}, server.Config{})
			conns := make([]*client.Conn, c.conns)
			for i := range conns {
				var err error
				if conns[i], err = client.Dial(b.Context(), w.url, client.Options{}); err != nil {
					b.Fatal(err)
				}
				defer conns[i].Close() // nothing to flush
			}
			var left atomic.Int64
			left.Store(int64(b.N))
			var wg sync.WaitGroup
			l := long()
			b.ResetTimer()
			used := cpu()
			for i := range c.envs {
				conn := conns[i%len(conns)]
				wg.Go(func() {
					env, err := conn.Create(b.Context(), api.CreateEnvRequest{Type: "toy"})
					for n := 0; err == nil && left.Add(-1) >= 0; n++ {
						if n%1000 == 0 {
							_, err = conn.Reset(b.Context(), env.EnvID, api.ResetRequest{Limits: &l})
						}
						step := n % 1000
						if err == nil {
							_, err = conn.Step(b.Context(), env.EnvID, api.StepRequest{Action: api.TextAction("Thought: x\nAction: noop"), Step: &step})
						}
					}
					if err != nil {
						b.Error(err)
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
			b.ReportMetric(float64((cpu()-used).Microseconds())/float64(b.N), "cpu-µs/step")
		})
	}
}

// BenchmarkRESTSteps is the same over REST.
func BenchmarkRESTSteps(b *testing.B) {
	for _, envs := range []int{1, 64} {
		b.Run(fmt.Sprintf("envs=%d", envs), func(b *testing.B) {
			w := serve(b, episode.Config{}, server.Config{})
			cl, err := client.New(w.url, client.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer cl.Close()
			var left atomic.Int64
			left.Store(int64(b.N))
			var wg sync.WaitGroup
			l := long()
			b.ResetTimer()
			used := cpu()
			for range envs {
				wg.Go(func() {
					env, err := cl.Create(b.Context(), api.CreateEnvRequest{Type: "toy"})
					for n := 0; err == nil && left.Add(-1) >= 0; n++ {
						if n%1000 == 0 {
							_, err = cl.Reset(b.Context(), env.EnvID, api.ResetRequest{Limits: &l})
						}
						step := n % 1000
						if err == nil {
							_, err = cl.Step(b.Context(), env.EnvID, api.StepRequest{Action: api.TextAction("Action: noop"), Step: &step})
						}
					}
					if err != nil {
						b.Error(err)
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
			b.ReportMetric(float64((cpu()-used).Microseconds())/float64(b.N), "cpu-µs/step")
		})
	}
}

// BenchmarkStrictDecode is what strict decoding costs a step, and
// BenchmarkValidator what the schema validator would.
func BenchmarkStrictDecode(b *testing.B) {
	body := []byte(`{"action":"Thought: I need the capital.\nAction: search[Freedonia]","step":3}`)
	for b.Loop() {
		var req api.StepRequest
		if strict.Check(body) != nil || strict.Unmarshal(body, &req) != nil {
			b.Fatal("refused")
		}
	}
}
