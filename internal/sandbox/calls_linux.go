package sandbox

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

// Calls runs the calls of a job in one fresh child.
func (p *Pool) Calls(ctx context.Context, job CallsJob) (CallsResult, error) {
	if job.Module == "" {
		job.Module = "solution"
	}
	job.Limits = job.Limits.orElse(p.plan.limits)
	if err := checkFiles(job.Files, job.Limits); err != nil {
		return CallsResult{Answers: make([]Answer, len(job.Calls)), Fault: FaultFiles, Detail: printable(err.Error(), 300)}, nil
	}
	var res CallsResult
	err := p.job(ctx, p.calls, "calls", func(ctx context.Context, c *child) (Fault, Usage, error) {
		res = CallsResult{Answers: make([]Answer, len(job.Calls))}
		begin := time.Now()
		var err error
		res.Fault, res.Detail, err = c.serveCalls(job, res.Answers)
		wall := time.Since(begin)
		c.release()
		res.Usage = c.usage(wall)
		return res.Fault, res.Usage, err
	})
	if err != nil {
		return CallsResult{}, err
	}
	return res, nil
}

// load hands over the workspace and starts the clock of the job. Up to then no
// code of the agent has run, so its errors and the time that it takes are
// ours.
func (c *child) load(op map[string]any, files Files, lim Limits) error {
	texts := make(map[string]string, len(files))
	for path, data := range files {
		texts[path] = base64.StdEncoding.EncodeToString(data)
	}
	op["files"], op["limits"] = texts, lim.wire()
	if c.dir != "" {
		op["dir"] = c.dir
	}
	if err := c.job.SetDeadline(time.Now().Add(startTimeout)); err != nil {
		return err
	}
	var r reply
	err := c.put(op)
	if err == nil {
		err = c.get(&r)
	}
	switch {
	case err != nil:
		if _, _, ours := c.fault(err, lim); ours != nil {
			return ours
		}
		return fmt.Errorf("prepare the workspace: %w", err)
	case r.Setup != "":
		return fmt.Errorf("prepare the workspace: %s", printable(r.Setup, 300))
	case !r.Prepared:
		return errors.New("prepare the workspace: no word of it")
	}
	return c.start(lim)
}

// serveCalls plays the calls and fills answers. Its error is ours.
func (c *child) serveCalls(job CallsJob, answers []Answer) (Fault, string, error) {
	if err := c.load(map[string]any{"op": "calls", "module": job.Module}, job.Files, job.Limits); err != nil {
		return "", "", err
	}
	next := 0
	asked := map[string]int{}
	loaded := false
	for next < len(job.Calls) || len(asked) > 0 || !loaded {
		if len(asked) == 0 && next < len(job.Calls) {
			n := chunk(len(job.Calls) - next)
			// An error here shows again below, after what the child had to say.
			if err := c.ask(job.Calls[next:next+n], next, asked); errors.Is(err, os.ErrDeadlineExceeded) {
				return c.fault(err, job.Limits)
			}
			next += n
		}
		var r reply
		if err := c.get(&r); err != nil {
			return c.fault(err, job.Limits)
		}
		if c.read > job.Limits.AnswerBytes {
			return FaultOutput, "answers larger than the limit", nil
		}
		if !loaded {
			loaded = true
			switch {
			case r.Loaded == nil:
				return FaultProtocol, "wrote something that is not an answer", nil
			case !*r.Loaded:
				return FaultImport, printable(r.Detail, 600), nil
			}
			continue
		}
		i, ok := asked[r.ID]
		if !ok {
			return FaultProtocol, "answered a question that was not asked", nil
		}
		delete(asked, r.ID)
		if err := answers[i].fill(r, job.Calls[i]); err != nil {
			return FaultProtocol, "wrote something that is not an answer", nil //nolint:nilerr // the child's fault, and said so
		}
	}
	return FaultNone, "", nil
}

// ask sends some calls, each under a new unpredictable id.
func (c *child) ask(calls []Call, first int, asked map[string]int) error {
	q := make([]any, len(calls))
	for i, call := range calls {
		var raw [8]byte
		rand.Read(raw[:]) // never fails
		id := hex.EncodeToString(raw[:])
		asked[id] = first + i
		args, kwargs := call.Args, make([][2]pyval.Value, len(call.Kwargs))
		if args == nil {
			args = []pyval.Value{}
		}
		for j, kv := range call.Kwargs {
			kwargs[j] = [2]pyval.Value{kv.Key, kv.Val}
		}
		q[i] = []any{id, call.Fn, args, kwargs, call.WantArgs}
	}
	return c.put(map[string]any{"calls": q})
}

// chunk chooses how many calls to send at once, so that the code under test
// can tell neither how many there are nor which is the last.
func chunk(left int) int {
	var raw [2]byte
	rand.Read(raw[:]) // never fails
	return min(left, 3+int(binary.BigEndian.Uint16(raw[:]))%6)
}

// fill reads one answer strictly.
func (a *Answer) fill(r reply, call Call) error {
	*a = Answer{Done: true}
	if call.WantArgs {
		if err := json.Unmarshal(r.Args, &a.Args); err != nil {
			return err
		}
		if r.Kwargs != nil {
			if err := json.Unmarshal(r.Kwargs, &a.Kwargs); err != nil {
				return err
			}
		}
		if len(a.Args) != len(call.Args) || len(a.Kwargs) != len(call.Kwargs) {
			return errGarbled
		}
	}
	if r.Raised != nil {
		var err error
		a.Raised, err = classes(r.Raised)
		if err == nil && (len(a.Raised) == 0 || r.Value != nil) {
			err = errGarbled
		}
		return err
	}
	if r.Value == nil {
		return errGarbled
	}
	return json.Unmarshal(r.Value, &a.Value)
}

func classes(raw [][]any) ([]Class, error) {
	out := make([]Class, len(raw))
	for i, r := range raw {
		if len(r) != 2 {
			return nil, errGarbled
		}
		name, ok1 := r[0].(string)
		builtin, ok2 := r[1].(bool)
		if !ok1 || !ok2 {
			return nil, errGarbled
		}
		out[i] = Class{name, builtin}
	}
	return out, nil
}
