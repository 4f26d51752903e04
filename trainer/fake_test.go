package trainer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/trainer/rollout"
)

// fake is a server at the edge of the process: one-page questions, an exact
// answer, and failures on demand. It has no randomness.
type fake struct {
	mu    sync.Mutex
	envs  map[string]*fakeEnv
	made  int
	steps int

	failEvery int // every so many steps fail on the server
	nullTask  int // this task always ends without a reward; 0 is none
}

type fakeEnv struct {
	task int
	n    int
}

func newFake() *fake { return &fake{envs: map[string]*fakeEnv{}} }

func (f *fake) dial(context.Context) (rollout.Conn, error) {
	return f, nil
}

var (
	fakeKeys  = []string{"price", "staff", "length"}
	fakeNames = []string{"Aba", "Bebe", "Coco", "Dudu", "Efe", "Fofo", "Gigi", "Hoho"}
)

func fakeName(i int) string { return fakeNames[i%8] }
func fakeKey(i int) string  { return fakeKeys[i%3] }
func fakeGold(i int) string { return fmt.Sprint(100 + i*37%800) }

func (f *fake) EnvType(context.Context, string) (api.EnvType, error) {
	return api.EnvType{Name: "fake", Splits: []api.SplitInfo{{Name: "train", Tasks: 1000}, {Name: "validation", Tasks: 40}, {Name: "test", Tasks: 40}}}, nil
}

func (f *fake) Tasks(_ context.Context, _, split string, n int) ([]api.Task, error) {
	base := map[string]int{"train": 0, "validation": 2000, "test": 3000}[split]
	var out []api.Task
	for i := range min(n, 40) {
		out = append(out, f.task(base+i, split))
	}
	return out, nil
}

func (f *fake) task(i int, split string) api.Task {
	slice := "seen"
	if i%2 == 1 {
		slice = "unseen"
	}
	return api.Task{TaskID: fmt.Sprint(i), Split: split, Public: map[string]any{"kind": "chain", "hops": 1.0, "slice": slice}}
}

func (f *fake) StartRun(context.Context, string, map[string]string) (string, error) {
	return "", errors.New("no page here")
}
func (f *fake) PushPoints(context.Context, string, []api.Point) error { return nil }

func (f *fake) Create(context.Context, api.CreateEnvRequest) (api.Env, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.made++
	id := fmt.Sprint("e", f.made)
	f.envs[id] = &fakeEnv{}
	return api.Env{EnvID: id}, nil
}

func (f *fake) Reset(_ context.Context, id string, r api.ResetRequest) (api.ResetResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.envs[id]
	e.n = 0
	if r.TaskID != "" {
		if _, err := fmt.Sscan(r.TaskID, &e.task); err != nil {
			return api.ResetResult{}, err
		}
	} else {
		e.task = *r.Index
	}
	q := fmt.Sprintf("Question: What is the %s of %s?", fakeKey(e.task), fakeName(e.task))
	return api.ResetResult{EnvID: id, EpisodeID: "ep", Observation: api.Observation{Text: q}, Task: f.task(e.task, string(r.Split))}, nil
}

func (f *fake) Step(_ context.Context, id string, r api.StepRequest) (api.StepResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.steps++
	if f.failEvery > 0 && f.steps%f.failEvery == 0 {
		return api.StepResult{}, errors.New("the network ate it")
	}
	e := f.envs[id]
	var text string
	if err := json.Unmarshal(r.Action, &text); err != nil {
		return api.StepResult{}, err
	}
	e.n++
	zero := 0.0
	out := api.StepResult{EnvID: id, Status: api.StatusRunning, Reward: &zero, Return: &zero, StateKey: fmt.Sprint(e.task, e.n)}
	tool, arg, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(text), "]"), "[")
	switch {
	case tool == "Action: search" && arg == fakeName(e.task):
		out.Observation.Text = fmt.Sprintf("%s: thing. %s %s, weight 7, maker Zuzu.", arg, fakeKey(e.task), fakeGold(e.task))
	case tool == "Action: finish":
		out.Done, out.Terminated, out.Status = true, true, api.StatusTerminated
		if arg == fakeGold(e.task) {
			one := 1.0
			out.Reward, out.Return = &one, &one
		}
		out.Grade = &api.Grade{Passed: *out.Return == 1}
		out.Observation.Text = "Done."
	default:
		out.Observation.Text = "Could not find that."
	}
	if e.n >= 6 && !out.Done {
		out.Done, out.Truncated, out.Status = true, true, api.StatusTruncated
		out.Grade = &api.Grade{}
	}
	if out.Done && f.nullTask > 0 && e.task == f.nullTask {
		out.Status, out.Reward, out.Return = api.StatusFailed, nil, nil
	}
	return out, nil
}

func (f *fake) Score(context.Context, string) (api.StepResult, error) {
	zero := 0.0
	return api.StepResult{Done: true, Truncated: true, Status: api.StatusTruncated, Reward: &zero, Return: &zero, Grade: &api.Grade{}}, nil
}

func (f *fake) CloseEnv(context.Context, string) error { return nil }
func (f *fake) Close() error                           { return nil }
