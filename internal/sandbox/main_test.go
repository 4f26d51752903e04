//go:build linux

package sandbox

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/proctor-rl/proctor/internal/ordinary"
	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

// The tests of this package run real code under the real kernel. They need
// python3 with pytest and a machine that can confine it, and fail without.

var soakRuns = flag.Int("soak", 60, "number of runs of the soak test")

var shared struct {
	once sync.Once
	pool *Pool
	err  error
}

func TestMain(m *testing.M) {
	if os.Getenv("SANDBOX_TEST_SERVER") != "" {
		serveUntilKilled()
		return
	}
	if os.Getenv("SANDBOX_TEST_SHORT") != "" {
		serveShortOfMemory()
		return
	}
	flag.Parse()
	code := m.Run()
	if shared.pool != nil {
		shared.pool.Close()
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func pool(t *testing.T) *Pool {
	t.Helper()
	shared.once.Do(func() {
		shared.pool, shared.err = New(context.Background(), Config{CallChildren: 2, PytestChildren: 1})
	})
	if shared.err != nil {
		t.Fatalf("these tests need a machine that can confine code, and python3 with pytest: %v", shared.err)
	}
	return shared.pool
}

// newPool makes a pool of its own for tests that break or close it.
func newPool(t *testing.T, cfg Config) *Pool {
	t.Helper()
	cfg.CallChildren, cfg.PytestChildren = 1, 1
	p, err := New(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func solution(text string) Files { return Files{"solution.py": []byte(text)} }

// call1 calls f() of a solution and returns the answer.
func call1(t *testing.T, p *Pool, text string, lim Limits) (Answer, CallsResult) {
	t.Helper()
	res, err := p.Calls(context.Background(), CallsJob{Files: solution(text), Calls: []Call{{Fn: "f"}}, Limits: lim})
	if err != nil {
		t.Fatal(err)
	}
	return res.Answers[0], res
}

func works(t *testing.T, p *Pool) {
	t.Helper()
	res, err := p.Calls(context.Background(), CallsJob{Files: solution("def f(x): return x + 1"), Calls: []Call{{Fn: "f", Args: []pyval.Value{pyval.IntOf(4)}}}})
	if err != nil || res.Fault != FaultNone || res.Answers[0].Value.String() != "5" {
		t.Fatalf("an ordinary run gave %+v, %v", res, err)
	}
}

// TestAsOrdinaryUser runs the tests of this package again as a user without
// any right, if they run as root.
func TestAsOrdinaryUser(t *testing.T) {
	ordinary.Again(t, ordinary.Run{Args: []string{"-test.skip=TestInterpreters|TestFilter"}})
}

// serveUntilKilled is the body of a second process that a test kills.
func serveUntilKilled() {
	p, err := New(context.Background(), Config{CallChildren: 2, PytestChildren: 1})
	if err != nil {
		fmt.Println("failed", err)
		os.Exit(1)
	}
	go func() {
		for range 400 {
			if s := p.Stats(); s.Live["calls"] >= 2 && s.Live["pytest"] >= 1 {
				break
			}
			<-time.After(10 * time.Millisecond)
		}
		fmt.Println("running", fmt.Sprint(p.Stats().PIDs))
	}()
	_, _ = p.Calls(context.Background(), CallsJob{ // killed in the midst of it
		Files:  solution("import os, time\nfor _ in range(3): os.fork()\ntime.sleep(600)\n"),
		Limits: Limits{Wall: time.Hour},
	})
}
