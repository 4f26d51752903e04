package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"time"
)

const (
	maxTests       = 5000
	maxTestID      = 300
	maxTestMessage = 2000
	keptOutput     = 32 << 10
	drainTime      = 2 * time.Second // for what is in the pipe after the end of all that wrote to it
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
	c.awaitEnd()
	c.job.Close()
	// The pipe's last writer has gone with the namespace. But code may have sent
	// its end through a socket, and what is under way there keeps it open: if not
	// in ours, which is closed, then in one that the kernel finds later.
	if err := c.out.SetReadDeadline(time.Now().Add(drainTime)); err != nil {
		c.out.Close()
	}
	<-drained
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
