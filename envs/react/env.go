package react

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/react/answer"
	"github.com/proctor-rl/proctor/envs/react/scaffold"
)

// problem is the private side of a task.
type problem struct {
	question string
	golds    []answer.Gold
	corpus   func() *corpus // cheap to call after the first time
	script   plan           // how the scripts solve it
	compute  bool           // the answer is the result of a computation
}

// phase is where an Env is in its life.
type phase int

const (
	idle phase = iota
	playing
	over
)

// Env plays one episode. Its whole state is plain values beside the immutable
// task, so copying it forks it.
type Env struct {
	t     *Type
	phase phase

	task   envs.Task
	prob   *problem
	corpus *corpus
	cap    int // bytes of an observation, 0 for no cap
	calls  int // tool calls in one action

	page    int    // open page, -1 for none
	term    string // last looked up, folded
	hit     int    // how many hits of term were shown
	shaped  float64
	flagged []string
}

// defaultCalls bounds the tool calls in one action where no limit is given.
const defaultCalls = 16

// Reset starts an episode of start.Task.
func (e *Env) Reset(ctx context.Context, start envs.Start) (envs.Observation, error) {
	if err := ctx.Err(); err != nil {
		return envs.Observation{}, fmt.Errorf("reset react: %w", err)
	}
	p, ok := start.Task.Private.(*problem)
	if !ok {
		return envs.Observation{}, fmt.Errorf("reset react: task %q is not one of this type: %w", start.Task.ID, envs.ErrNoTask)
	}
	*e = Env{t: e.t, phase: playing, task: start.Task, prob: p, corpus: p.corpus(), page: -1, calls: defaultCalls}
	e.cap = start.Limits.MaxObservationBytes
	if e.cap <= 0 {
		e.cap = e.t.spec.Limits.MaxObservationBytes
	}
	if n := start.Limits.MaxToolCalls; n > 0 {
		e.calls = n
	}
	text := "Question: " + p.question
	messages := []envs.Message{{Role: "user", Content: text}}
	if !e.t.opt.compact() {
		messages = append([]envs.Message{{Role: "system", Content: e.t.spec.ActionHelp}}, messages...)
	}
	return e.observation(text, messages), nil
}

// Step applies one action.
func (e *Env) Step(ctx context.Context, a envs.Action) (envs.Outcome, error) {
	if err := e.ready(ctx); err != nil {
		return envs.Outcome{}, err
	}
	o := envs.Outcome{StateKey: e.key()}
	shapedBefore := e.shaped
	var texts []string
	var messages []envs.Message
	note := func(c scaffold.Call, text string) {
		texts = append(texts, text)
		m := envs.Message{Role: "user", Content: "Observation: " + text}
		if len(a.ToolCalls) > 0 {
			m = envs.Message{Role: "tool", Content: text, Name: printable(c.Tool, 64), ToolCallID: c.ID}
		}
		messages = append(messages, m)
	}
	calls := e.read(a)
	for i, c := range calls {
		if e.phase == over {
			note(c, "Not run: the episode is over.")
			continue
		}
		if i >= e.calls {
			note(c, fmt.Sprintf("Not run: at most %d calls in one action.", e.calls))
			continue
		}
		note(c, e.play(c, &o))
	}
	e.part(&o, "answer", envs.PartOutcome, 0) // the finish has set it already, or it is 0
	if e.t.opt.Shaped {
		e.part(&o, "calculator", envs.PartProcess, e.shaped-shapedBefore)
	}
	for _, p := range o.Parts {
		o.Reward += p.Value * p.Weight
	}
	if e.phase == over {
		o.Terminated = true
		o.Grade = e.grade(o.Parts[0].Value)
	}
	o.Observation = e.observation(strings.Join(texts, "\n"), messages)
	return o, nil
}

// Score ends the episode without an answer, which is worth nothing.
func (e *Env) Score(ctx context.Context) (envs.Outcome, error) {
	if err := e.ready(ctx); err != nil {
		return envs.Outcome{}, err
	}
	o := envs.Outcome{StateKey: e.key()}
	e.phase = over
	e.part(&o, "answer", envs.PartOutcome, 0)
	if e.t.opt.Shaped {
		e.part(&o, "calculator", envs.PartProcess, 0)
	}
	o.Grade = e.grade(0)
	o.Observation = e.observation("The episode ended without an answer.", nil)
	return o, nil
}

// Close releases the task.
func (e *Env) Close() error {
	*e = Env{t: e.t}
	return nil
}

// Fork returns an independent Env in the identical state.
func (e *Env) Fork(ctx context.Context) (envs.Env, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("fork react: %w", err)
	}
	f := *e
	f.flagged = append([]string(nil), e.flagged...)
	return &f, nil
}

func (e *Env) ready(ctx context.Context) error {
	switch e.phase {
	case idle:
		return envs.ErrNotReset
	case over:
		return envs.ErrOver
	case playing:
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("step react: %w", err)
	}
	return nil
}

// read is the calls in an action: at least one.
func (e *Env) read(a envs.Action) []scaffold.Call {
	if len(a.ToolCalls) == 0 {
		return []scaffold.Call{scaffold.Text(a.Text)}
	}
	calls := make([]scaffold.Call, len(a.ToolCalls))
	for i, tc := range a.ToolCalls {
		calls[i] = scaffold.ToolCall(tc.ID, tc.Name, tc.Arguments, toolParams)
	}
	return calls
}

// part adds a part once; a second part of one name is dropped.
func (e *Env) part(o *envs.Outcome, name string, kind envs.PartKind, value float64) {
	for _, p := range o.Parts {
		if p.Name == name {
			return
		}
	}
	o.Parts = append(o.Parts, envs.RewardPart{Name: name, Kind: kind, Value: value, Weight: 1})
}

func (e *Env) grade(score float64) *envs.Grade {
	g := &envs.Grade{Passed: score == 1, Score: score, Verifier: e.t.verifier}
	g.Tests.Failed = 1
	if g.Passed {
		g.Tests = envs.TestCounts{Passed: 1}
	}
	g.Integrity = envs.Integrity{OK: len(e.flagged) == 0, Flags: e.flagged}
	return g
}

// key hashes the state: the task, what is open and how far a lookup got. Two
// histories that led to the same state share it.
func (e *Env) key() string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00%d\x00%d\x00%s\x00%g", e.t.spec.Name, e.task.ID, e.page, e.hit, e.term, e.shaped)
	return hex.EncodeToString(h.Sum(nil)[:16])
}
