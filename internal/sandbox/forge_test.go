//go:build linux

package sandbox

import (
	"context"
	"testing"
	"time"
)

const forgedSetup = "import json, os, struct\nd = json.dumps({'setup': 'no space left on device'}).encode()\nos.write(3, struct.pack('>I', len(d)) + d)\n"

// A run that says that the sandbox failed must not pass for one of ours: an
// agent could have its failures left out of the count.
func TestForgedFailureIsTheAgents(t *testing.T) {
	p := pool(t)
	if _, res := call1(t, p, forgedSetup+"def f(): return 1", Limits{}); res.Fault != FaultProtocol {
		t.Errorf("calls: fault %q (%s)", res.Fault, res.Detail)
	}
	r, err := p.Pytest(context.Background(), PytestJob{Files: Files{"test_a.py": []byte(forgedSetup + "def test_a(): pass\n")}})
	if err != nil || r.Fault != FaultProtocol {
		t.Errorf("pytest: %+v, %v", r, err)
	}
	r, err = p.Proxied(context.Background(), ProxiedJob{
		Files: solution(forgedSetup + "def f(): return 1"),
		Tests: Files{"test_a.py": []byte("import solution\ndef test_a(): assert solution.f() == 1\n")},
	})
	if err != nil || r.Fault != FaultProtocol || r.AllPassed() {
		t.Errorf("proxied: %+v, %v", r, err)
	}
}

// A run that holds as many processes as it may takes none from its siblings.
func TestProcessesAreCountedPerChild(t *testing.T) {
	p := pool(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	defer func() { cancel(); <-ended }()
	go func() {
		defer close(ended)
		_, _ = p.Calls(ctx, CallsJob{ // ended by the cancellation
			Files: solution("import os, time\ntry:\n    while os.fork(): pass\nexcept OSError: pass\ntime.sleep(600)"),
			Calls: []Call{{Fn: "f"}}, Limits: Limits{Wall: time.Minute},
		})
	}()
	for range 6 {
		a, res := call1(t, p, "import threading, time\ndef f():\n    ts = [threading.Thread(target=time.sleep, args=(0.3,)) for _ in range(8)]\n    for x in ts: x.start()\n    for x in ts: x.join()\n    return 7", Limits{Wall: 20 * time.Second})
		if res.Fault != FaultNone || a.Value.String() != "7" {
			t.Fatalf("beside a fork bomb: fault %q, raised %v", res.Fault, a.Raised)
		}
	}
}

// What a task knows as a function stays one: a class in its place has no say
// in the comparisons of the trusted tests.
func TestClassInPlaceOfAFunction(t *testing.T) {
	p := pool(t)
	job := ProxiedJob{
		Files: solution("class f:\n    def __init__(self, x): pass\n    def __sub__(self, o): return 0\n    def __contains__(self, o): return True\n    def __le__(self, o): return True\n    __ge__ = __le__\n" +
			"class C:\n    def __len__(self): return 2\n"),
		Tests:     Files{"test_a.py": []byte("from solution import C, f\ndef test_near(): assert abs(f(1) - 5) < 1e-9\ndef test_in(): assert 3 in f(1)\ndef test_range(): assert 0 <= f(1) <= 9\ndef test_class(): assert len(C()) == 2\n")},
		Functions: []string{"solution.f"},
	}
	r, err := p.Proxied(context.Background(), job)
	if err != nil || r.Passed != 1 || r.Failed != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A value that is nested as deeply as a message may hold, and one deeper once
// a test wraps it, is the agent's doing and no fault of ours.
func TestValueTooDeepToHandOn(t *testing.T) {
	p := pool(t)
	job := ProxiedJob{
		Files: solution(`
import sys
class X: pass
def wrap(x):
    if x == 1: return X()
    f = sys._getframe()
    while "rid" not in f.f_locals: f = f.f_back
    rid, pipe = f.f_locals["rid"], f.f_locals["pipe"]
    v = ["l", [["o", "X", 1]]]
    for _ in range(79): v = ["l", [["o", "X", 1], v]]
    old = pipe._dumps
    pipe._dumps = lambda m: old({"id": rid, "value": v, "args": m["args"]} if m.get("id") == rid else m)
def total(xs): return 3
`),
		Tests: Files{"test_a.py": []byte("import solution\ndef test_a(): assert solution.total([solution.wrap(1), solution.wrap(2)]) == 3\n")},
	}
	r, err := p.Proxied(context.Background(), job)
	if err != nil || r.Fault != FaultProtocol || r.AllPassed() {
		t.Errorf("%+v, %v", r, err)
	}
}

// A program may ask for a larger stack, as those that recurse deeply do.
func TestLargerStack(t *testing.T) {
	p := pool(t)
	a, res := call1(t, p, "import resource\nresource.setrlimit(resource.RLIMIT_STACK, (64 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))\ndef f(): return 7", Limits{})
	if res.Fault != FaultNone || a.Value.String() != "7" {
		t.Errorf("fault %q (%s)", res.Fault, res.Detail)
	}
}
