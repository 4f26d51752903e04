package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

const (
	maxTests       = 5000
	maxTestID      = 300
	maxTestMessage = 2000
	keptOutput     = 32 << 10
)

func testTargets(files Files, asked []string) []string {
	if len(asked) > 0 {
		return asked
	}
	out := []string{}
	for f := range files {
		if IsTestFile(f) {
			out = append(out, f)
		}
	}
	sort.Strings(out)
	return out
}

// Pytest runs the tests of a workspace in one process with its code. The
// result is for the agent to look at: the code under test can forge it.
func (p *Pool) Pytest(ctx context.Context, job PytestJob) (PytestResult, error) {
	job.Limits = job.Limits.orElse(p.plan.limits)
	targets := testTargets(job.Files, job.Targets)
	if res, bad := refuse(job.Files, targets, job.Limits); bad {
		return res, nil
	}
	var res PytestResult
	err := p.job(ctx, p.pytest, "pytest", func(ctx context.Context, c *child) (Fault, Usage, error) {
		begin := time.Now()
		var err error
		res, err = c.servePytest(map[string]any{"targets": targets}, job.Files, job.Limits, begin, nil)
		if job.Quiet {
			res.Output = ""
		}
		return res.Fault, res.Usage, err
	})
	if err != nil {
		return PytestResult{}, err
	}
	return res, nil
}

// refuse says at once what no child needs to be used up for.
func refuse(files Files, targets []string, lim Limits) (PytestResult, bool) {
	res := PytestResult{ExitCode: -1}
	if err := checkFiles(files, lim); err != nil {
		res.Fault, res.Detail = FaultFiles, printable(err.Error(), 300)
		return res, true
	}
	for _, t := range targets {
		if _, ok := files[t]; !ok {
			res.Fault, res.Detail = FaultFiles, printable("no test file "+t, 300)
			return res, true
		}
	}
	if len(targets) == 0 {
		res.ExitCode, res.Detail = 5, "no test files"
		return res, true
	}
	return res, false
}

// relay answers one call of a proxied module.
type relay func(call json.RawMessage) (any, error)

// servePytest runs pytest in c. Its error is ours.
func (c *child) servePytest(op map[string]any, files Files, lim Limits, begin time.Time, answer relay) (PytestResult, error) {
	res := PytestResult{ExitCode: -1}
	op["op"] = "pytest"
	text := newHeadTail(keptOutput)
	drained := make(chan struct{})
	flooded := make(chan struct{})
	go func() {
		defer close(drained)
		if n, _ := io.Copy(text, io.LimitReader(c.out, lim.OutputBytes)); n >= lim.OutputBytes {
			close(flooded)
			c.kill()
		}
	}()
	fault, detail, err := c.playPytest(op, files, lim, answer, &res)
	res.Usage.Wall = time.Since(begin)
	c.kill()
	<-c.exited
	<-drained // the pipe's last writer has gone with the namespace
	select {
	case <-flooded:
		fault, detail, err = FaultOutput, fmt.Sprintf("more than %d bytes of output", lim.OutputBytes), nil
	default:
	}
	res.Fault, res.Detail = fault, detail
	res.Usage = c.usage(res.Usage.Wall)
	res.Output, res.Truncated = text.text()
	res.Output = steady(res.Output)
	return res, err
}

func (c *child) playPytest(op map[string]any, files Files, lim Limits, answer relay, res *PytestResult) (Fault, string, error) {
	if err := c.load(op, files, lim); err != nil {
		return "", "", err
	}
	for {
		var r reply
		if err := c.get(&r); err != nil {
			return c.fault(err, lim)
		}
		switch {
		case c.read > lim.AnswerBytes || len(res.Tests) >= maxTests:
			return FaultOutput, "reported more than the limit", nil
		case r.End != nil:
			res.ExitCode = *r.End
			return FaultNone, "", nil
		case r.Call != nil && answer != nil:
			msg, err := answer(r.Call)
			if err != nil {
				return "", "", err
			}
			if err := c.put(msg); err != nil {
				return c.fault(err, lim)
			}
		case r.Test != "":
			res.add(r)
		default:
			return FaultProtocol, "wrote something that is not a report", nil
		}
	}
}

func (res *PytestResult) add(r reply) {
	t := Test{ID: printable(r.Test, maxTestID), Outcome: TestOutcome(r.Outcome), Message: steady(printable(r.Message, maxTestMessage))}
	switch t.Outcome {
	case TestPassed:
		res.Passed++
	case TestFailed:
		res.Failed++
	case TestSkipped:
		res.Skipped++
	default:
		t.Outcome = TestError
		res.Errors++
	}
	res.Tests = append(res.Tests, t)
}

// Proxied runs trusted tests in one child against proxies of the agent's
// modules, whose code runs in another child. No value that a test expects and
// no line of a test reaches the agent's process.
func (p *Pool) Proxied(ctx context.Context, job ProxiedJob) (PytestResult, error) {
	job.Limits = job.Limits.orElse(p.plan.limits)
	targets := testTargets(job.Tests, job.Targets)
	if err := checkFiles(job.Files, job.Limits); err != nil {
		return PytestResult{ExitCode: -1, Fault: FaultFiles, Detail: printable(err.Error(), 300)}, nil
	}
	if res, bad := refuse(job.Tests, targets, job.Limits); bad {
		return PytestResult{}, fmt.Errorf("sandbox: hidden tests cannot be run: %s", res.Detail)
	}
	mods := moduleNames(job.Files)
	var res PytestResult
	err := p.job(ctx, p.pytest, "proxied", func(ctx context.Context, c *child) (Fault, Usage, error) {
		w, err := p.calls.acquire(ctx)
		if err != nil {
			return "", Usage{}, err
		}
		defer w.release()
		w.patience.until, _ = ctx.Deadline()
		defer context.AfterFunc(ctx, w.abort)()
		if p.mode == ModeNone {
			if w.dir, err = workDir(); err != nil {
				return "", Usage{}, err
			}
		}
		s := &session{w: w, lim: job.Limits}
		if err := s.open(job.Files); err != nil {
			return "", Usage{}, err
		}
		begin := time.Now()
		if err := w.start(job.Limits.Wall); err != nil {
			return "", Usage{}, err
		}
		s.left = w.patience.wall
		lim := p.plan.limits
		lim.Wall = (1+extensions)*job.Limits.Wall + time.Second // the tests' own process ends after the agent's
		res, err = c.servePytest(map[string]any{"targets": targets, "proxy": mods, "functions": append([]string{}, job.Functions...)}, job.Tests, lim, begin, s.answer)
		if err != nil {
			return "", Usage{}, err
		}
		if s.fault != FaultNone {
			res.Fault, res.Detail = s.fault, s.detail
		}
		return res.Fault, res.Usage, nil
	})
	if err != nil {
		return PytestResult{}, err
	}
	return res, nil
}

// moduleNames lists the importable modules and packages of a workspace that
// are not tests, parents first.
func moduleNames(files Files) []string {
	set := map[string]bool{}
	for f := range files {
		name, ok := strings.CutSuffix(f, ".py")
		if !ok || IsTestFile(f) || path.Base(f) == "conftest.py" {
			continue
		}
		name = strings.TrimSuffix(name, "/__init__")
		if strings.ContainsAny(name, ".-") {
			continue
		}
		for name != "." && name != "" {
			set[strings.ReplaceAll(name, "/", ".")] = true
			name = path.Dir(name)
		}
	}
	out := make([]string, 0, len(set))
	for n := range set {
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b string) int { return strings.Count(a, ".") - strings.Count(b, ".") })
	return out
}

// session is the agent's side of a proxied run. Once it has a fault, every
// further call of the tests is answered with it.
type session struct {
	w      *child
	lim    Limits
	left   time.Duration // of its wall time, which runs while a test waits for it
	fault  Fault
	detail string
}

// open hands over the workspace. None of its code runs yet, so the time that
// this takes is not the agent's.
func (s *session) open(files Files) error {
	lim := s.lim
	lim.Wall = startTimeout
	if err := s.w.load(map[string]any{"op": "calls", "module": "builtins", "keep": true}, files, lim); err != nil {
		return err
	}
	var r reply
	if err := s.w.get(&r); err != nil { // no code of the agent has run yet
		return fmt.Errorf("open the agent's process: %w", err)
	}
	return nil
}

func (s *session) answer(raw json.RawMessage) (any, error) {
	var q struct {
		Op     string           `json:"op"`
		Args   []pyval.Value    `json:"args"`
		Kwargs [][2]pyval.Value `json:"kwargs"`
		Back   bool             `json:"back"`
	}
	if err := json.Unmarshal(raw, &q); err != nil && s.fault == FaultNone {
		// What a test hands over is its own or has come from the agent's
		// process: only the latter can be more than a message holds.
		s.fault, s.detail = FaultProtocol, "returned a value that cannot be handed on"
	}
	if s.fault != FaultNone {
		return map[string]string{"gone": s.detail}, nil
	}
	call := Call{Fn: q.Op, Args: q.Args, WantArgs: q.Back}
	for _, kv := range q.Kwargs {
		call.Kwargs = append(call.Kwargs, pyval.Pair{Key: kv[0], Val: kv[1]})
	}
	var a Answer
	var r reply
	asked := map[string]int{}
	begin := time.Now()
	if err := s.w.resume(s.left); err != nil {
		return nil, err
	}
	err := s.w.ask([]Call{call}, 0, asked)
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
		err = s.w.get(&r)
	}
	s.left = max(s.left-time.Since(begin), 50*time.Millisecond)
	if err == nil && s.w.read > s.lim.AnswerBytes {
		err = errTooMuch
	}
	if err == nil {
		if _, ok := asked[r.ID]; !ok || a.fill(r, call) != nil {
			err = errGarbled
		}
	}
	if err != nil {
		if s.fault, s.detail, err = s.w.fault(err, s.lim); err != nil {
			return nil, err
		}
		return map[string]string{"gone": s.detail}, nil
	}
	msg := map[string]any{"args": a.Args}
	if a.Raised != nil {
		names := make([][2]any, len(a.Raised))
		for i, c := range a.Raised {
			names[i] = [2]any{c.Name, c.Builtin}
		}
		msg["raised"], msg["detail"] = names, printable(r.Detail, 400)
	} else {
		msg["value"] = a.Value
	}
	return msg, nil
}
