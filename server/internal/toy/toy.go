// Package toy is an environment type for the server's own tests: an answer to
// guess, and commands that make the environment slow, broken or odd.
//
// Only tests import it; no program registers it.
package toy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/proctor-rl/proctor/envs"
)

// Secret is in every error and panic of the toy. It must never reach a client.
const Secret = "hidden-case-7f3a"

// Type is the toy's type. Its counters show what the server did with it.
type Type struct {
	Name   string
	Open   atomic.Int64 // envs that were made and not closed
	Steps  atomic.Int64
	Scores atomic.Int64
}

// Spec describes the toy.
func (t *Type) Spec() envs.Spec {
	name := t.Name
	if name == "" {
		name = "toy"
	}
	return envs.Spec{
		Name: name, Version: "1.0.0", Digest: "sha256:00", Summary: "Guess the answer; <, > and & stand for themselves.", ActionHelp: "finish[answer]", ActionForms: []string{"finish[answer]"},
		Tools:  []envs.Tool{{Name: "finish", Description: "Answer.", Parameters: []byte(`{"type":"object"}`)}},
		Splits: []envs.SplitInfo{{Name: envs.SplitTrain, Tasks: 100}, {Name: envs.SplitTest, Tasks: 10}},
		Limits: envs.Limits{MaxSteps: 50, WallTimeSeconds: 600, MaxObservationBytes: 4096, MaxToolCalls: 50},
		MaxLimits: envs.Limits{
			MaxSteps: 1000, WallTimeSeconds: 3600, MaxObservationBytes: 65536, MaxToolCalls: 1000,
		},
		RewardMax: 1, RewardParts: []envs.PartSpec{{Name: "answer", Kind: envs.PartOutcome, Weight: 1}},
		Can: envs.Capabilities{Seed: true, Snapshot: true, Replay: true, StepReward: true},
	}
}

// Tasks is the toy's tasks.
func (t *Type) Tasks() envs.TaskSet { return tasks{} }

// New makes an env.
func (t *Type) New(context.Context) (envs.Env, error) {
	t.Open.Add(1)
	return &env{t: t}, nil
}

type tasks struct{}

func (tasks) Len(split string) int {
	switch split {
	case envs.SplitTrain:
		return 100
	case envs.SplitTest:
		return 10
	}
	return 0
}

func (s tasks) At(split string, i int) (envs.Task, error) {
	if i < 0 || i >= s.Len(split) {
		return envs.Task{}, envs.ErrNoTask
	}
	return envs.Task{ID: fmt.Sprintf("%s-%d", split, i), Split: split, Public: map[string]any{"n": i, "sign": "<&>"}, Private: "42"}, nil
}

func (s tasks) Find(id string) (envs.Task, error) {
	if id == "panic" {
		panic("no tasks: " + Secret)
	}
	split, n, _ := strings.Cut(id, "-")
	i, err := strconv.Atoi(n)
	if err != nil || strconv.Itoa(i) != n {
		return envs.Task{}, envs.ErrNoTask
	}
	return s.At(split, i)
}

type env struct {
	t      *Type
	closed bool
	n      int
	start  envs.Start
}

func (e *env) Reset(_ context.Context, s envs.Start) (envs.Observation, error) {
	e.n, e.start = 0, s
	if s.Seed == -666 {
		return envs.Observation{}, errors.New("reset broke: " + Secret)
	}
	return envs.Observation{Text: fmt.Sprintf("task %s seed %d", s.Task.ID, s.Seed)}, nil
}

// Step plays a command: noop, step reward, finish[x], sleep:MS, hang:MS,
// error, panic, nan, big:N, wide:N, raw:TEXT, echo-id.
func (e *env) Step(ctx context.Context, a envs.Action) (envs.Outcome, error) {
	e.t.Steps.Add(1)
	key := fmt.Sprintf("%s/%d", e.start.Task.ID, e.n)
	e.n++
	out := envs.Outcome{StateKey: key, Observation: envs.Observation{Text: "ok " + strconv.Itoa(e.n)}}
	text := a.Text
	if len(a.ToolCalls) > 0 {
		text = a.ToolCalls[0].Name
	}
	text = strings.TrimPrefix(text, "Action: ")
	out.Info.Action = &envs.Understood{Tool: "said", Arguments: map[string]any{"text": text}}
	cmd, arg, _ := strings.Cut(text, ":")
	n, _ := strconv.Atoi(arg) // 0 where there is no number
	switch {
	case strings.HasPrefix(text, "finish["):
		return e.finish(out, text == "finish[42]", true), nil
	case cmd == "reward":
		out.Reward = 0.25
		out.Parts = []envs.RewardPart{{Name: "progress", Kind: envs.PartProcess, Value: 0.25, Weight: 1}}
	case cmd == "sleep":
		select {
		case <-time.After(time.Duration(n) * time.Millisecond):
		case <-ctx.Done():
			return out, ctx.Err()
		}
	case cmd == "hang": // deaf to its context
		time.Sleep(time.Duration(n) * time.Millisecond) //nolint:forbidigo // being deaf is the point
	case cmd == "error":
		return out, errors.New("grader says " + Secret)
	case cmd == "panic":
		panic("boom " + Secret)
	case cmd == "nan":
		out.Reward = math.NaN()
	case cmd == "big":
		out.Observation.Text = strings.Repeat("é", n)
	case cmd == "wide":
		out.Observation.Text = strings.Repeat("a", n)
	case cmd == "raw":
		out.Observation.Text = arg
	case cmd == "echo-id":
		for _, c := range a.ToolCalls {
			out.Observation.Messages = append(out.Observation.Messages, envs.Message{
				Role: "tool", Content: strings.Repeat("ok ", 20), Name: c.Name, ToolCallID: c.ID,
			})
		}
	case text == "garbage":
		out.Info = envs.Info{ParseError: "no action found"}
	}
	return out, nil
}

func (e *env) finish(out envs.Outcome, right, own bool) envs.Outcome {
	v := 0.0
	if right {
		v = 1
	}
	out.Reward, out.Terminated = v, own
	out.Parts = []envs.RewardPart{{Name: "answer", Kind: envs.PartOutcome, Value: v, Weight: 1}}
	out.Grade = &envs.Grade{Passed: right, Score: v, Verifier: envs.Verifier{Name: "toy"}, Integrity: envs.Integrity{OK: true}}
	return out
}

func (e *env) Score(context.Context) (envs.Outcome, error) {
	e.t.Scores.Add(1)
	return e.finish(envs.Outcome{StateKey: fmt.Sprintf("%s/%d", e.start.Task.ID, e.n)}, false, false), nil
}

func (e *env) Fork(context.Context) (envs.Env, error) {
	c := *e
	c.closed = false
	e.t.Open.Add(1)
	return &c, nil
}

func (e *env) Close() error {
	if !e.closed {
		e.closed = true
		e.t.Open.Add(-1)
	}
	return nil
}
