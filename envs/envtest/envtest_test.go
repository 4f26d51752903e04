package envtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/envtest"
)

// toy is the smallest type: say the word. fault breaks one promise.
type toy struct{ fault string }

func (y toy) Spec() envs.Spec {
	s := envs.Spec{
		Name: "toy", Version: "1.0.0", Digest: "sha256:" + strings.Repeat("0", 64), Summary: "Say the word.",
		Tools:       []envs.Tool{{Name: "say", Description: "Say it.", Parameters: json.RawMessage(`{"type":"object"}`)}},
		ActionForms: []string{"a word"},
		Splits:      []envs.SplitInfo{{Name: "train", Tasks: 5}, {Name: "test", Tasks: 5}},
		Limits:      envs.Limits{MaxSteps: 4, WallTimeSeconds: 1, MaxObservationBytes: 1000, MaxToolCalls: 1},
		MaxLimits:   envs.Limits{MaxSteps: 4, WallTimeSeconds: 1, MaxObservationBytes: 1000, MaxToolCalls: 1},
		RewardMax:   1,
		RewardParts: []envs.PartSpec{{Name: "word", Kind: envs.PartOutcome, Weight: 1, Help: "1 for the word."}},
		Can:         envs.Capabilities{Snapshot: true},
	}
	if y.fault == "digest" {
		s.Digest = "new"
	}
	return s
}

func (y toy) Tasks() envs.TaskSet                   { return y }
func (y toy) New(context.Context) (envs.Env, error) { return &toyEnv{y: y}, nil }
func (y toy) Scripts() []string                     { return []string{"perfect", "lazy", "cheat", "demo"} }
func (y toy) word(t envs.Task) string               { s, _ := t.Private.(string); return s }
func (y toy) Len(split string) int                  { return map[string]int{"train": 5, "test": 5}[split] }
func (y toy) Find(id string) (envs.Task, error)     { return y.find(id) }
func (y toy) At(split string, i int) (envs.Task, error) {
	if i < 0 || i >= y.Len(split) {
		return envs.Task{}, fmt.Errorf("%w: %d", envs.ErrNoTask, i)
	}
	word := fmt.Sprintf("word%d%c", i, split[1])
	t := envs.Task{ID: fmt.Sprintf("%c%d-opaque", split[1], i), Split: split, Private: word, Public: map[string]any{"i": i}}
	switch y.fault {
	case "public answer":
		t.Public["word"] = word
	case "telling id":
		t.ID = split + t.ID
	case "shared id":
		t.ID = fmt.Sprintf("%d-opaque", i)
	}
	return t, nil
}

func (y toy) find(id string) (envs.Task, error) {
	for _, s := range []string{"train", "test"} {
		for i := range 5 {
			if t, err := y.At(s, i); err == nil && t.ID == id {
				return t, nil
			}
		}
	}
	return envs.Task{}, envs.ErrNoTask
}

func (y toy) Script(name string, t envs.Task, _ float64, _ *rand.Rand) (envs.Script, error) {
	if name == "perfect" || y.fault == "cheat pays" && name == "cheat" {
		return saying(y.word(t)), nil
	}
	return saying("nothing"), nil
}

type saying string

func (s saying) Act(envs.Observation) envs.Action { return envs.Action{Text: string(s)} }

type toyEnv struct {
	y     toy
	task  envs.Task
	state int // 0 idle, 1 playing, 2 over
	steps int
	cap   int
}

func (e *toyEnv) obs(text string) envs.Observation {
	o := envs.Observation{Text: text}
	if len(text) > e.cap && e.y.fault != "no cap" {
		o.Text, o.Elided = text[:e.cap], len(text)-e.cap
	}
	if e.y.fault == "random" {
		o.Text = fmt.Sprint(rand.Int()) // the fault: not from a seed
	}
	return o
}

func (e *toyEnv) Reset(ctx context.Context, s envs.Start) (envs.Observation, error) {
	if err := ctx.Err(); err != nil {
		return envs.Observation{}, err
	}
	e.task, e.state, e.steps, e.cap = s.Task, 1, 0, s.Limits.MaxObservationBytes
	text := "Say the word of " + s.Task.ID + ", which is known to everybody who listens."
	if e.y.fault == "reset tells" {
		text += e.y.word(s.Task)
	}
	return e.obs(text), nil
}

func (e *toyEnv) Step(ctx context.Context, a envs.Action) (envs.Outcome, error) {
	if err := e.ready(); err != nil {
		return envs.Outcome{}, err
	}
	if err := ctx.Err(); err != nil && e.y.fault != "deaf" {
		return envs.Outcome{}, err
	}
	if e.y.fault == "garbage" && strings.Contains(a.Text, "\xff") {
		return envs.Outcome{}, errors.New("cannot decode")
	}
	e.steps++
	o := envs.Outcome{StateKey: fmt.Sprint(e.task.ID, e.steps), Observation: e.obs("No.")}
	o.Info.Action = &envs.Understood{Tool: "say"}
	if e.y.fault == "form" && a.Text == "a word" {
		o.Info = envs.Info{ParseError: "no word"}
	}
	for range a.ToolCalls {
		o.Observation.Messages = append(o.Observation.Messages, envs.Message{Role: "tool", Content: "No."})
	}
	if e.y.fault == "echo" {
		o.Observation.Text = a.Text
	}
	v := 0.0
	if a.Text == e.y.word(e.task) {
		v = 1
	}
	return e.end(o, v, v == 1), nil
}

// end completes an outcome; the episode ends where over is set.
func (e *toyEnv) end(o envs.Outcome, v float64, over bool) envs.Outcome {
	o.Reward = v
	o.Parts = []envs.RewardPart{{Name: "word", Kind: envs.PartOutcome, Value: v, Weight: 1}}
	switch e.y.fault {
	case "sum":
		o.Parts[0].Value += 0.5
	case "nan":
		o.Reward, o.Parts[0].Value = math.NaN(), math.NaN()
	case "range":
		o.Reward, o.Parts[0].Value = 2*v, 2*v
	case "undeclared":
		o.Parts[0].Name = "other"
	case "early grade":
		over = true
	}
	if over {
		e.state = 2
		o.Terminated = v == 1
		o.Grade = &envs.Grade{Passed: v == 1, Score: v, Verifier: envs.Verifier{Name: "word", Version: "1", Digest: "x"}}
	}
	if e.y.fault == "early grade" {
		o.Terminated = false
		e.state = 1
	}
	if e.y.fault == "endless" {
		e.state = 1
	}
	return o
}

func (e *toyEnv) ready() error {
	switch e.state {
	case 0:
		return envs.ErrNotReset
	case 2:
		return envs.ErrOver
	}
	return nil
}

func (e *toyEnv) Score(context.Context) (envs.Outcome, error) {
	if err := e.ready(); err != nil {
		return envs.Outcome{}, err
	}
	return e.end(envs.Outcome{StateKey: fmt.Sprint(e.task.ID, e.steps), Observation: e.obs("Over.")}, 0, true), nil
}

func (e *toyEnv) Fork(context.Context) (envs.Env, error) {
	if e.y.fault == "shared fork" {
		return e, nil
	}
	f := *e
	return &f, nil
}

func (e *toyEnv) Close() error {
	if e.y.fault == "close twice" && e.task.ID == "" {
		return errors.New("closed already")
	}
	*e = toyEnv{y: e.y}
	return nil
}

// faults are the promises that a toy can break.
var faults = []string{
	"digest", "form", "public answer", "telling id", "shared id", "cheat pays", "no cap", "random", "reset tells", "deaf", "garbage",
	"echo", "sum", "nan", "range", "undeclared", "early grade", "endless", "shared fork", "close twice",
}

func run(t *testing.T, fault string) {
	y := toy{fault: fault}
	envtest.Run(t, y, envtest.Options{Answers: func(task envs.Task) []string { return []string{y.word(task)} }})
}

func TestRightTypePasses(t *testing.T) { run(t, "") }

// TestFaulty is run by TestEveryFaultIsFound in a process of its own.
func TestFaulty(t *testing.T) {
	if fault := os.Getenv("ENVTEST_FAULT"); fault != "" {
		run(t, fault)
	}
}

// Each broken promise makes the suite fail: the suite is no decoration.
func TestEveryFaultIsFound(t *testing.T) {
	if os.Getenv("ENVTEST_FAULT") != "" {
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults {
		cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestFaulty$")
		cmd.Env = append(os.Environ(), "ENVTEST_FAULT="+fault)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || !strings.Contains(string(out), "--- FAIL: TestFaulty") {
			t.Errorf("fault %q is not found: %v\n%.400s", fault, err, out)
		}
	}
}
