package codefix

import (
	"context"
	"fmt"
	"strings"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/internal/sandbox"
	"github.com/proctor-rl/proctor/internal/sandbox/grade"
	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

// visibleRun is what run_tests answers. The counts are what the run in the
// agent's own process claims: they are shown and never rewarded.
type visibleRun struct {
	Passed int           `json:"passed"`
	Failed int           `json:"failed"`
	Errors int           `json:"errors"`
	Tests  []visibleTest `json:"tests,omitempty"`
	Output string        `json:"output,omitempty"`
	Fault  string        `json:"fault,omitempty"`
	text   string
}

type visibleTest struct {
	Name    string `json:"name"`
	Outcome string `json:"outcome"`
}

// first is the observation of a reset: the issue and the failing output.
func (e *env) first(ctx context.Context) (envs.Observation, error) {
	var o envs.Observation
	r, err := e.visible(ctx)
	if err != nil {
		return o, err
	}
	if e.typ.opts.Compact {
		text := e.task.Prompt + " " + r.text
		e.bound(&o, text, []any{map[string]any{"prompt": e.task.Prompt, "run": r}})
		return o, nil
	}
	text := "Issue: " + neutral(e.task.Prompt) + "\nFiles: " + strings.Join(e.ws.paths(), ", ") + "\n" + r.text
	o.Messages = []envs.Message{
		{Role: "system", Content: "Repair the Python code so that it does what the issue says. Tests are read-only; hidden tests judge the result. Tools: list_files, read_file, edit_file, replace_lines, run_tests, finish."},
		{Role: "user", Content: text},
	}
	e.bound(&o, text, []any{map[string]any{"prompt": neutral(e.task.Prompt), "files": e.ws.paths(), "run": r}})
	return o, nil
}

// visible runs what the agent may see run.
func (e *env) visible(ctx context.Context) (visibleRun, error) {
	if len(e.task.Shown) > 0 {
		return e.typ.judge.shown(ctx, e.task, e.ws)
	}
	if len(targets(e.ws.files)) == 0 {
		return visibleRun{text: "There are no visible tests."}, nil
	}
	r, err := e.typ.judge.pytest(ctx, e.ws)
	if err != nil {
		return visibleRun{}, err
	}
	output := withoutSource(r.Output)
	v := visibleRun{Passed: r.Passed, Failed: r.Failed, Errors: r.Errors, Fault: string(r.Fault), Output: neutral(output)}
	var b strings.Builder
	fmt.Fprintf(&b, "Tests: %d passed, %d failed, %d errors.", r.Passed, r.Failed, r.Errors)
	if r.Fault != sandbox.FaultNone {
		fmt.Fprintf(&b, " The run was stopped: %s.", faultText(r.Fault))
	}
	for i, t := range r.Tests {
		if i >= 40 {
			fmt.Fprintf(&b, "\n%d more tests.", len(r.Tests)-i)
			break
		}
		name := clipName(neutral(t.ID))
		v.Tests = append(v.Tests, visibleTest{name, string(t.Outcome)})
		fmt.Fprintf(&b, "\n%s: %s", t.Outcome, name)
	}
	if out := quoted(output); out != "" {
		out, _ = clip(out, 4096)
		b.WriteString("\nOutput:\n" + out)
	}
	v.text = b.String()
	return v, nil
}

func clipName(s string) string {
	s = strings.ReplaceAll(s, "\n", " ")
	if len(s) > 120 {
		s = strings.ToValidUTF8(s[:120], "") + "..."
	}
	return s
}

func faultText(f sandbox.Fault) string {
	switch f {
	case sandbox.FaultWall:
		return "time limit"
	case sandbox.FaultCPU:
		return "CPU limit"
	case sandbox.FaultMemory:
		return "memory limit"
	case sandbox.FaultOutput:
		return "output limit"
	case sandbox.FaultImport:
		return "the module does not import"
	case sandbox.FaultFiles:
		return "the files could not be laid out"
	default:
		return "the process ended before its tests did"
	}
}

// shown runs a task's visible cases by calls, which is several times faster
// than pytest. Their arguments and values are no secret.
func (j *judge) shown(ctx context.Context, t *Task, w *workspace) (visibleRun, error) {
	return remember(ctx, j, "shown "+t.Split+" "+t.ID+" "+w.digest(), func() (visibleRun, bool, error) {
		s, err := suite(t.Shown)
		if err != nil {
			return visibleRun{}, false, err
		}
		job := sandbox.CallsJob{Files: j.submitted(w), Limits: visibleLimits}
		for _, c := range s.Cases {
			job.Calls = append(job.Calls, sandbox.Call{Fn: c.Fn, Args: c.Args})
		}
		r, err := j.run.Calls(ctx, job)
		if err != nil {
			return visibleRun{}, false, fmt.Errorf("run visible cases: %w", err)
		}
		v := visibleRun{Fault: string(r.Fault)}
		first := ""
		for i, a := range r.Answers {
			c := s.Cases[i]
			if c.Right(a) {
				v.Passed++
				continue
			}
			v.Failed++
			if first == "" {
				first = fmt.Sprintf(" %s = %s not %s", callText(c), answerText(a), wantText(c))
			}
		}
		v.text = fmt.Sprintf("%d failed.%s", v.Failed, first)
		return v, lasting(r.Fault), nil
	})
}

func callText(c grade.Case) string {
	args := make([]string, len(c.Args))
	for i, a := range c.Args {
		args[i] = brief(a)
	}
	return c.Fn + "(" + strings.Join(args, ",") + ")"
}

func wantText(c grade.Case) string {
	if c.Raises != "" {
		return c.Raises
	}
	return brief(c.Want)
}

// brief is a value in few tokens.
func brief(v pyval.Value) string {
	s := neutral(strings.ReplaceAll(v.String(), ", ", ","))
	if len(s) > 48 {
		s = strings.ToValidUTF8(s[:48], "") + "..."
	}
	return strings.ReplaceAll(s, "\n", " ")
}

func answerText(a sandbox.Answer) string {
	switch {
	case !a.Done:
		return "nothing"
	case len(a.Raised) > 0:
		return clipName(neutral(a.Raised[0].Name))
	}
	return brief(a.Value)
}

// listing is a file in the compact form, each line with its number and one ">"
// for each level of indentation.
func listing(b []byte) string {
	var sb strings.Builder
	for i, l := range splitLines(b) {
		fmt.Fprintf(&sb, "\n%d%s", i+1, Indented(neutral(strings.TrimRight(string(l), "\r\n"))))
	}
	return sb.String()
}
