package grade_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/proctor-rl/proctor/internal/sandbox"
	"github.com/proctor-rl/proctor/internal/sandbox/grade"
	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

const benchSource = "def mix(a, b):\n    if a < 0:\n        raise ValueError('negative')\n    return 3 * a + b\n"

// twenty is a suite of twenty hidden cases.
func twenty() grade.Suite {
	var s grade.Suite
	for i := range int64(20) {
		s.Cases = append(s.Cases, grade.Case{Fn: "mix", Args: []pyval.Value{pyval.IntOf(i), pyval.IntOf(7 * i)}, Want: pyval.IntOf(10 * i)})
	}
	return s
}

// coldFiles is the same check as a test file.
func coldFiles() sandbox.Files {
	return sandbox.Files{
		"solution.py":      []byte(benchSource),
		"test_solution.py": []byte("import pytest\nfrom solution import mix\n\n@pytest.mark.parametrize('i', range(20))\ndef test_mix(i):\n    assert mix(i, 7 * i) == 10 * i\n"),
	}
}

// cold runs what an environment without a warm interpreter would: a new
// python -m pytest, not even confined.
func cold(b *testing.B, python, dir string) time.Duration {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), python, "-m", "pytest", "-q", "test_solution.py")
	cmd.Dir = dir
	begin := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("cold pytest: %v\n%s", err, out)
	}
	return time.Since(begin)
}

func benchPool(b *testing.B, cfg sandbox.Config) *sandbox.Pool {
	b.Helper()
	p, err := sandbox.New(context.Background(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.Close() })
	return p
}

func quantile(d []time.Duration, q float64) float64 {
	s := slices.Sorted(slices.Values(d))
	return float64(s[int(q*float64(len(s)-1))].Microseconds()) / 1000
}

// settle waits until the children that were used up have been replaced, as
// they are between the steps of an episode.
func settle(p *sandbox.Pool) {
	for range 2000 {
		if s := p.Stats(); s.Ready["calls"] >= 4 && s.Ready["pytest"] >= 2 {
			return
		}
		runtime.Gosched()
		<-time.After(time.Millisecond)
	}
}

func report(b *testing.B, runs, colds []time.Duration, faults int64) {
	b.Helper()
	b.ReportMetric(quantile(runs, 0.5), "p50-ms")
	b.ReportMetric(quantile(runs, 0.95), "p95-ms")
	b.ReportMetric(quantile(colds, 0.5), "cold-p50-ms")
	b.ReportMetric(quantile(colds, 0.5)/quantile(runs, 0.5), "x-faster")
	b.ReportMetric(float64(faults)/float64(len(runs)), "faults/op")
	b.ReportMetric(0, "ns/op")
}

// latency measures run with a cold pytest on the same check in between, so
// that both see the same machine.
func latency(b *testing.B, run func(p *sandbox.Pool) sandbox.Usage) {
	b.Helper()
	p := benchPool(b, sandbox.Config{})
	dir := b.TempDir()
	for name, text := range coldFiles() {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	var runs, colds []time.Duration
	var faults int64
	for range 3 {
		run(p) // the machine's own caches
	}
	for b.Loop() {
		if len(runs)%4 == 0 {
			colds = append(colds, cold(b, p.Interpreter(), dir))
		}
		settle(p)
		begin := time.Now()
		u := run(p)
		runs = append(runs, time.Since(begin))
		faults += u.MinorFaults
	}
	report(b, runs, colds, faults)
}

// BenchmarkGradedRun is one whole verdict: two processes, twenty hidden cases
// and a quarter of them again, until both process trees are gone.
func BenchmarkGradedRun(b *testing.B) {
	s, files := twenty(), sandbox.Files{"solution.py": []byte(benchSource)}
	seed := uint64(0)
	latency(b, func(p *sandbox.Pool) sandbox.Usage {
		seed++
		v, err := grade.Grade(context.Background(), p, files, s, grade.Options{Seed: seed})
		if err != nil || !v.Solved() {
			b.Fatalf("%+v %v", v, err)
		}
		return v.Usage
	})
}

// BenchmarkVisibleTests is one run of the visible tests for the agent.
func BenchmarkVisibleTests(b *testing.B) {
	files := coldFiles()
	latency(b, func(p *sandbox.Pool) sandbox.Usage {
		r, err := p.Pytest(context.Background(), sandbox.PytestJob{Files: files})
		if err != nil || r.Passed != 20 {
			b.Fatalf("%+v %v", r, err)
		}
		return r.Usage
	})
}

// BenchmarkProxiedTests is one run of trusted tests against a proxied module.
func BenchmarkProxiedTests(b *testing.B) {
	files := coldFiles()
	latency(b, func(p *sandbox.Pool) sandbox.Usage {
		r, err := p.Proxied(context.Background(), sandbox.ProxiedJob{
			Files: sandbox.Files{"solution.py": files["solution.py"]},
			Tests: sandbox.Files{"test_solution.py": files["test_solution.py"]},
		})
		if err != nil || !r.AllPassed() {
			b.Fatalf("%+v %v", r, err)
		}
		return r.Usage
	})
}

// BenchmarkThroughput keeps every core busy with verdicts.
func BenchmarkThroughput(b *testing.B) {
	for _, prefault := range []bool{true, false} {
		b.Run(fmt.Sprintf("prefault=%v", prefault), func(b *testing.B) {
			p := benchPool(b, sandbox.Config{NoPrefault: !prefault, CallChildren: 2 * runtime.NumCPU()})
			s, files := twenty(), sandbox.Files{"solution.py": []byte(benchSource)}
			var wg sync.WaitGroup
			work := make(chan uint64)
			for range 2 * runtime.NumCPU() {
				wg.Go(func() {
					for seed := range work {
						if v, err := grade.Grade(context.Background(), p, files, s, grade.Options{Seed: seed}); err != nil || !v.Solved() {
							b.Errorf("%+v %v", v, err)
						}
					}
				})
			}
			begin, n := time.Now(), uint64(0)
			for b.Loop() {
				n++
				work <- n
			}
			close(work)
			wg.Wait()
			b.ReportMetric(float64(n)/time.Since(begin).Seconds(), "runs/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}
