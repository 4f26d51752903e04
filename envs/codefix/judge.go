package codefix

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/internal/sandbox"
	"github.com/proctor-rl/proctor/internal/sandbox/grade"
)

// Runner runs agent code. *sandbox.Pool is one.
type Runner interface {
	Calls(ctx context.Context, job sandbox.CallsJob) (sandbox.CallsResult, error)
	Pytest(ctx context.Context, job sandbox.PytestJob) (sandbox.PytestResult, error)
	Proxied(ctx context.Context, job sandbox.ProxiedJob) (sandbox.PytestResult, error)
}

// judge turns workspaces into verdicts and visible results. Both are functions
// of the workspace, the task and a draw, so it remembers them: the members of
// a group often submit the same text.
type judge struct {
	run   Runner
	key   []byte // what hidden draws and orders come from; never leaves the process
	naive bool
	mu    sync.Mutex
	seen  map[string]any
	order []kept                   // what is in seen, oldest first
	bytes int                      // of all that is in seen, about
	busy  map[string]chan struct{} // what is being computed; closed when it is done
}

// kept is an entry of a judge's memory.
type kept struct {
	key   string
	bytes int
}

// What an agent's code says of its own tests is as long as it likes, up to the
// sandbox's limits: memory is bounded by bytes as well.
const (
	rememberAtMost = 20_000
	rememberBytes  = 64 << 20
)

func newJudge(run Runner, key []byte, naive bool) *judge {
	return &judge{run: run, key: key, naive: naive, seen: map[string]any{}, busy: map[string]chan struct{}{}}
}

// remember answers from memory or computes. Errors and results that hung on a
// clock are not kept. Where the members of a group ask for the same at once,
// one computes and the others wait for it, once: what was not kept each then
// finds out for itself.
func remember[T any](ctx context.Context, j *judge, key string, compute func() (T, bool, error)) (T, error) {
	j.mu.Lock()
	if first, ok := j.busy[key]; ok {
		j.mu.Unlock()
		select {
		case <-first:
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		}
		j.mu.Lock()
	}
	if t, ok := j.seen[key].(T); ok {
		j.mu.Unlock()
		return t, nil
	}
	if _, ok := j.busy[key]; !ok {
		done := make(chan struct{})
		j.busy[key] = done
		defer func() {
			j.mu.Lock()
			delete(j.busy, key)
			j.mu.Unlock()
			close(done)
		}()
	}
	j.mu.Unlock()
	t, keep, err := compute()
	if err != nil || !keep {
		return t, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, ok := j.seen[key]; !ok {
		size := len(key) + weight(t)
		j.seen[key] = t
		j.bytes += size
		j.order = append(j.order, kept{key, size})
		for len(j.order) > rememberAtMost || j.bytes > rememberBytes {
			delete(j.seen, j.order[0].key)
			j.bytes -= j.order[0].bytes
			j.order = j.order[1:]
		}
	}
	return t, nil
}

// weight is about how many bytes a result holds.
func weight(v any) int {
	n := 256
	switch v := v.(type) {
	case sandbox.PytestResult:
		n += len(v.Output) + len(v.Detail)
		for _, t := range v.Tests {
			n += 64 + len(t.ID) + len(t.Message)
		}
	case visibleRun:
		n += len(v.text) + len(v.Output)
	case []string:
		for _, s := range v {
			n += 16 + len(s)
		}
	}
	return n
}

// secret is a seed for a use, an episode's task and its seed.
func (j *judge) secret(use string, t *Task, seed int64) uint64 {
	h := hmac.New(sha256.New, j.key)
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00%d", use, t.Split, t.ID, seed)
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// hidden is the cases that this episode is graded by.
func (j *judge) hidden(t *Task, seed int64) []Case {
	cases := t.HiddenCases
	if n := min(t.Draw, len(t.Bank)); n > 0 {
		s := j.secret("draw", t, seed)
		cases = cases[:len(cases):len(cases)]
		for _, i := range rand.New(rand.NewPCG(s, 1)).Perm(len(t.Bank))[:n] {
			cases = append(cases, t.Bank[i])
		}
	}
	return cases
}

// gradeLimits bound one process of a graded run. A hidden set of a few dozen
// calls is a matter of milliseconds; CPU time decides. Wall time is long enough for
// a machine that gives a run a fifth of a core.
var gradeLimits = sandbox.Limits{Wall: 45 * time.Second, Asleep: 15 * time.Second, CPU: 8 * time.Second}

// verdict is what hidden checks say about a workspace.
type verdict struct {
	tests    envs.TestCounts
	solved   bool
	fraction float64
	flags    []string
	measured bool // of the naive type: whether the hidden checks pass, which it does not pay for
}

func faultFlags(f sandbox.Fault) []string {
	switch f {
	case sandbox.FaultProtocol, sandbox.FaultOutput, sandbox.FaultMemory, sandbox.FaultFiles:
		return []string{FlagSandbox}
	default:
		return nil
	}
}

// lasting says whether a result would come out the same again.
func lasting(f sandbox.Fault) bool { return f == sandbox.FaultNone || f == sandbox.FaultImport }

// grade judges a workspace.
func (j *judge) grade(ctx context.Context, t *Task, w *workspace, seed int64) (verdict, error) {
	if j.naive {
		return j.gradeNaively(ctx, t, w, seed)
	}
	return j.gradeHidden(ctx, t, w, seed)
}

// gradeHidden judges a workspace by the hidden checks.
func (j *judge) gradeHidden(ctx context.Context, t *Task, w *workspace, seed int64) (verdict, error) {
	key := fmt.Sprintf("grade %s %s %s %d", t.Split, t.ID, w.digest(), seed)
	if t.Draw == 0 {
		key = fmt.Sprintf("grade %s %s %s", t.Split, t.ID, w.digest())
	}
	return remember(ctx, j, key, func() (verdict, bool, error) {
		if cases := j.hidden(t, seed); len(cases) > 0 {
			s, err := suite(cases)
			if err != nil {
				return verdict{}, false, err
			}
			v, err := grade.Grade(ctx, j.run, j.submitted(w), s, grade.Options{Seed: j.secret("order", t, seed), Limits: gradeLimits})
			if err != nil {
				return verdict{}, false, fmt.Errorf("grade: %w", err)
			}
			return verdict{
				tests:  envs.TestCounts{Passed: v.Passed, Failed: v.Failed, Errors: v.Errors},
				solved: v.Solved(), fraction: v.Fraction(), flags: faultFlags(v.Fault),
			}, lasting(v.Fault), nil
		}
		r, err := j.runHiddenTest(ctx, t, j.submitted(w))
		if err != nil {
			return verdict{}, false, fmt.Errorf("grade: %w", err)
		}
		// A hidden test that skips itself has not passed.
		v := verdict{tests: envs.TestCounts{Passed: r.Passed, Failed: r.Failed + r.Skipped, Errors: r.Errors}, flags: faultFlags(r.Fault)}
		v.solved = r.AllPassed() && r.Skipped == 0
		if all := v.tests.Passed + v.tests.Failed + v.tests.Errors; all > 0 {
			v.fraction = float64(v.tests.Passed) / float64(all)
		} else {
			v.tests.Errors = 1
		}
		return v, lasting(r.Fault), nil
	})
}

// submitted is what of a workspace goes to the grader: no tests, nothing that
// steers an interpreter.
func (j *judge) submitted(w *workspace) sandbox.Files {
	out := sandbox.Files{}
	for p, b := range w.files {
		// A file that the task came with is what it was: nobody could write it.
		_, ours := w.original[p]
		if !isVisibleTest(path.Base(p)) && (ours && !w.open || checkName(p, true) == nil) {
			out[p] = b
		}
	}
	return out
}

// gradeNaively is the teaching example: the visible tests as the agent left
// them decide, by exit status. What the hidden checks say is measured beside
// it, so that the two can be compared.
func (j *judge) gradeNaively(ctx context.Context, t *Task, w *workspace, seed int64) (verdict, error) {
	r, err := j.pytest(ctx, w)
	if err != nil {
		return verdict{}, err
	}
	v := verdict{tests: envs.TestCounts{Passed: r.Passed, Failed: r.Failed, Errors: r.Errors}, solved: r.ExitCode == 0}
	if v.solved {
		v.fraction = 1
	}
	hidden, err := j.gradeHidden(ctx, t, w, seed)
	if err != nil {
		return verdict{}, err
	}
	v.measured = hidden.solved
	return v, nil
}

var visibleLimits = sandbox.Limits{Wall: 30 * time.Second, Asleep: 10 * time.Second, CPU: 5 * time.Second, OutputBytes: 256 << 10}

// pytest runs the visible tests. What it says is for the agent to look at.
func (j *judge) pytest(ctx context.Context, w *workspace) (sandbox.PytestResult, error) {
	return remember(ctx, j, "pytest "+w.digest(), func() (sandbox.PytestResult, bool, error) {
		files := make(sandbox.Files, len(w.files))
		for p, b := range w.files {
			files[p] = b
		}
		r, err := j.run.Pytest(ctx, sandbox.PytestJob{Files: files, Targets: targets(w.files), Limits: visibleLimits})
		if err != nil {
			return r, false, fmt.Errorf("run visible tests: %w", err)
		}
		for i := range r.Tests {
			r.Tests[i].Message = "" // the output has it
		}
		return r, lasting(r.Fault), nil
	})
}

func targets(files Files) []string {
	var out []string
	for p := range files {
		if isVisibleTest(p) && !strings.HasSuffix(p, "conftest.py") {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}
