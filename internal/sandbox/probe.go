package sandbox

import (
	"context"
	"fmt"
	"strings"

	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

// Report is what Probe found out.
type Report struct {
	Mode        Mode
	Interpreter string
	// Checks are the questions that were tried from inside, each with whether
	// the answer is what confinement promises.
	Checks []Check
}

// Check is one thing that was tried.
type Check struct {
	Name string
	OK   bool
	Saw  string
}

// OK reports whether every check held.
func (r Report) OK() bool {
	for _, c := range r.Checks {
		if !c.OK {
			return false
		}
	}
	return len(r.Checks) > 0
}

// probeModule tries what must fail, from inside a child.
const probeModule = `
import os, socket, ctypes

def attempt(f):
    try:
        return "allowed: %r" % (f(),)
    except BaseException as e:
        return "refused: %s" % type(e).__name__

def call(name, *args):
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*args) < 0:
        raise OSError(ctypes.get_errno(), "no")

def proc(): return os.listdir("/proc")
def root_write(): return open("/usr/x", "w")
def host(): return os.listdir("/root") + os.listdir("/var")
def inet(): return socket.socket(socket.AF_INET)
def unix(): return socket.socket(socket.AF_UNIX)
def user(): return os.setuid(0)
def spaces(): return call("unshare", 0x10000000)
def mount(): return call("mount", b"none", b"/home", b"tmpfs", 0, None)
def ptrace(): return call("ptrace", 0, 0, 0, 0)
def good(x): return x + 1
def tried(name): return attempt(globals()[name])
`

// Probe starts a small pool and finds out by doing whether code is confined
// and whether answers come back right. The pool is closed again. Its error is
// ErrUnavailable, with what to change, where no pool can be had.
func Probe(ctx context.Context, cfg Config) (Report, error) {
	cfg.CallChildren, cfg.PytestChildren = 1, 1
	p, err := New(ctx, cfg)
	if err != nil {
		return Report{}, err
	}
	defer p.Close()
	return p.Probe(ctx)
}

// Probe is the same for a pool that runs.
func (p *Pool) Probe(ctx context.Context) (Report, error) {
	rep := Report{Mode: p.Mode(), Interpreter: p.Interpreter()}
	tries := []string{"proc", "root_write", "host", "inet", "unix", "user", "spaces", "mount", "ptrace"}
	job := CallsJob{Files: Files{"probe_inside.py": []byte(probeModule)}, Module: "probe_inside"}
	for _, t := range tries {
		job.Calls = append(job.Calls, Call{Fn: "tried", Args: []pyval.Value{pyval.StrOf(t)}})
	}
	job.Calls = append(job.Calls, Call{Fn: "good", Args: []pyval.Value{pyval.IntOf(1)}}, Call{Fn: "missing"})
	res, err := p.Calls(ctx, job)
	if err != nil {
		return rep, err
	}
	if res.Fault != FaultNone {
		return rep, &InfraError{"probe", fmt.Errorf("%s: %s", res.Fault, res.Detail)}
	}
	for i, t := range tries {
		saw := res.Answers[i].Value.Str
		rep.Checks = append(rep.Checks, Check{t, strings.HasPrefix(saw, "refused") || t == "proc" && saw == "allowed: []", saw})
	}
	known, unknown := res.Answers[len(tries)], res.Answers[len(tries)+1]
	rep.Checks = append(rep.Checks,
		Check{"known-good call", known.Value.String() == "2", known.Value.String()},
		Check{"known-bad call", unknown.Raised != nil, fmt.Sprint(unknown.Raised)})
	return rep, nil
}
