package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

// maxExceptionText is what of an exception's text trusted tests may look at.
const maxExceptionText = 16 << 10

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
		s := &session{w: w, lim: job.Limits, arguments: arguments{frozen: job.Freeze, written: job.Written}}
		if err := s.open(job.Files); err != nil {
			return "", Usage{}, err
		}
		begin := time.Now()
		if err := w.start(job.Limits); err != nil {
			return "", Usage{}, err
		}
		s.asleep, s.left = w.patience.asleep, time.Until(w.patience.end)
		lim := p.plan.limits
		lim.Wall = job.Limits.Wall + time.Second/2 // the tests' own process ends after the agent's
		lim.Asleep = lim.Wall                      // it sleeps while the agent's works
		res, err = c.servePytest(map[string]any{"targets": targets, "proxy": mods, "original": moduleNames(job.Original), "functions": append([]string{}, job.Functions...)}, job.Tests, lim, begin, s.answer)
		if err != nil {
			return "", Usage{}, err
		}
		res.Changed = s.names()
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
	asleep time.Duration // left of what it may sleep, which runs while a test waits for it
	left   time.Duration // left of its wall time, likewise
	fault  Fault
	detail string
	arguments
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
		As     string           `json:"as"` // what the tests call the function
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
	if err := s.w.resume(s.asleep, s.left); err != nil {
		return nil, err
	}
	err := s.w.ask([]Call{call}, 0, asked)
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
		err = s.w.get(&r)
	}
	took := time.Since(begin)
	s.asleep, s.left = max(s.asleep-took, 50*time.Millisecond), max(s.left-took, 0)
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
	msg := map[string]any{}
	if q.Back {
		first := 1 // the function itself
		if q.Op == "call" {
			first = 2 // its module and its name
		}
		msg["args"], msg["kwargs"] = s.back(q.As, first, call, a)
	}
	if a.Raised != nil {
		names := make([][2]any, len(a.Raised))
		for i, c := range a.Raised {
			names[i] = [2]any{c.Name, c.Builtin}
		}
		msg["raised"], msg["detail"], msg["own"] = names, printable(r.Detail, 400), r.Own
		if r.Text != nil && len(*r.Text) <= maxExceptionText {
			msg["text"] = *r.Text
		}
	} else {
		msg["value"] = a.Value
	}
	return msg, nil
}
