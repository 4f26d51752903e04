package codefix

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/proctor-rl/proctor/envs"
)

func edit(path, content string) string {
	return textAction("x", toolEdit, map[string]any{"path": path, "content": content}).Text
}

const done = "Action: finish()"

func TestAnEpisode(t *testing.T) {
	typ := newType(t, Options{UserTasks: []Task{clampTask()}})
	first, outs := playTask(t, typ, "clamp", "Action: read_file({\"path\": \"solution.py\"})",
		"Action: replace_lines({\"path\": \"solution.py\", \"first\": 2, \"last\": 4, \"content\": \"    if lo > hi:\\n        raise ValueError(lo)\\n    return max(lo, min(x, hi))\"})",
		"Action: run_tests()", done)
	if !strings.Contains(first.Text, "limits x to [lo, hi]") || !strings.Contains(first.Text, "1 passed, 1 failed") || !strings.Contains(first.Text, "test_below") {
		t.Errorf("reset shows %q", first.Text)
	}
	if !strings.Contains(outs[0].Observation.Text, "   3          return hi") {
		t.Errorf("read_file shows %q", outs[0].Observation.Text)
	}
	if !strings.Contains(outs[2].Observation.Text, "2 passed, 0 failed") {
		t.Errorf("run_tests shows %q", outs[2].Observation.Text)
	}
	end := outs[3]
	if end.Reward != 1 || !end.Terminated || end.Grade == nil || !end.Grade.Passed || end.Grade.Tests != (envs.TestCounts{Passed: 4}) || !end.Grade.Integrity.OK {
		t.Errorf("the end is %+v, grade %+v", end, end.Grade)
	}
	for i, o := range outs[:3] {
		if o.Reward != 0 || o.Grade != nil || o.Terminated {
			t.Errorf("step %d: %+v", i, o)
		}
	}
}

// An honest fix earns its reward even where the agent first tried to touch the
// tests (B18); the attempt is refused and reported.
func TestTestsAreReadOnlyAndHonestFixesPay(t *testing.T) {
	task := clampTask()
	typ := newType(t, Options{UserTasks: []Task{task}})
	_, outs := playTask(t, typ, "clamp", edit("./test_solution.py", "def test_ok():\n    pass\n"), edit("solution.py", task.Fixed), done)
	if outs[0].Info.ToolError == "" || strings.Join(outs[0].Info.Flags, ",") != FlagProtected || !strings.Contains(outs[0].Observation.Text, "Refused") {
		t.Errorf("the edit of a test: %+v", outs[0])
	}
	if g := outs[2].Grade; outs[2].Reward != 1 || g.Integrity.OK || strings.Join(g.Integrity.Flags, ",") != FlagProtected {
		t.Errorf("the end: %+v %+v", outs[2], g)
	}
}

func TestToolCallsPlayInOrder(t *testing.T) {
	typ := newType(t, Options{UserTasks: []Task{clampTask()}})
	task, _ := typ.Tasks().Find("clamp")
	e, _ := typ.New(t.Context())
	if _, err := e.Reset(t.Context(), envs.Start{Task: task, Limits: typ.Spec().Limits}); err != nil {
		t.Fatal(err)
	}
	o, err := e.Step(t.Context(), envs.Action{ToolCalls: []envs.ToolCall{
		{ID: "c1", Name: "list_files", Arguments: ""},
		{ID: "c2", Name: "read_file", Arguments: `{"path": 3}`},
		{ID: "c3", Name: "nothing", Arguments: "{}"},
		{ID: "c4", Name: "read_file", Arguments: `{"path": "test_solution.py"}`},
	}})
	if err != nil {
		t.Fatal(err)
	}
	// B04: each observation once, in call order.
	if len(o.Observation.Messages) != 4 {
		t.Fatalf("%d messages", len(o.Observation.Messages))
	}
	for i, id := range []string{"c1", "c2", "c3", "c4"} {
		if m := o.Observation.Messages[i]; m.ToolCallID != id || m.Role != "tool" {
			t.Errorf("message %d is %+v", i, m)
		}
	}
	if o.Info.ParseError == "" || o.Info.Action == nil || o.Info.Action.Tool != toolList {
		t.Errorf("info %+v", o.Info)
	}
	o, err = e.Step(t.Context(), envs.Action{ToolCalls: []envs.ToolCall{{ID: "a", Name: "finish", Arguments: "{}"}, {ID: "b", Name: "finish", Arguments: "{}"}}})
	if err != nil || !o.Terminated || o.Reward != 0 || len(o.Observation.Messages) != 1 {
		t.Errorf("finish twice: %+v %v", o, err)
	}
	if _, err := e.Step(t.Context(), envs.Action{Text: done}); !errors.Is(err, envs.ErrOver) {
		t.Errorf("a step after the end: %v", err)
	}
}

func TestScriptsOfUserTasks(t *testing.T) {
	proxied := clampTask()
	proxied.ID, proxied.HiddenCases = "proxied", nil
	proxied.HiddenTest = "import pytest\nimport solution\n\n@pytest.mark.parametrize('x,lo,hi,want', [(-7, -2, 9, -2), (40, 3, 8, 8), (4, 3, 8, 4)])\ndef test_it(x, lo, hi, want):\n    assert solution.clamp(x, lo, hi) == want\n\ndef test_raises():\n    with pytest.raises(ValueError):\n        solution.clamp(1, 3, 0)\n"
	typ := newType(t, Options{UserTasks: []Task{clampTask(), proxied}})
	for _, id := range []string{"clamp", "proxied"} {
		for _, name := range typ.Scripts() {
			want := 0.0
			if name == "perfect" || name == "demo" {
				want = 1
			}
			if got := runScript(t, typ, id, name, 0); got != want {
				t.Errorf("%s earns %g on %s, want %g", name, got, id, want)
			}
		}
	}
}

func runScript(t *testing.T, typ *Type, id, name string, noise float64) float64 {
	t.Helper()
	task, err := typ.Tasks().Find(id)
	if err != nil {
		t.Fatal(err)
	}
	s, err := typ.Script(name, task, noise, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	e, err := typ.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	obs, err := e.Reset(t.Context(), envs.Start{Task: task, Limits: typ.Spec().Limits})
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		o, err := e.Step(t.Context(), s.Act(obs))
		if err != nil {
			t.Fatal(err)
		}
		if o.Terminated {
			return o.Reward
		}
		obs = o.Observation
	}
	t.Fatalf("%s did not end", name)
	return 0
}

// A step reward is a difference of potentials: it sums to nothing, so that the
// whole episode is worth what its outcome is.
func TestStepRewardTelescopes(t *testing.T) {
	task := clampTask()
	typ := newType(t, Options{UserTasks: []Task{task}, StepReward: 0.2, RefusedWritePenalty: 0.1})
	half := "def clamp(x, lo, hi):\n    return max(lo, min(x, hi))\n"
	_, outs := playTask(t, typ, "clamp", edit("solution.py", half), edit("solution.py", "broken("), edit("solution.py", half), edit("solution.py", task.Fixed), "Action: list_files()", done)
	sum := 0.0
	for i, o := range outs {
		part := 0.0
		for _, p := range o.Parts {
			part += p.Value * p.Weight
		}
		if d := part - o.Reward; d > 1e-12 || d < -1e-12 {
			t.Errorf("step %d: parts sum to %g, reward %g", i, part, o.Reward)
		}
		sum += o.Reward
	}
	if outs[0].Reward <= 0 || outs[1].Reward >= 0 {
		t.Errorf("progress %g, regress %g", outs[0].Reward, outs[1].Reward)
	}
	if sum < 1-1e-9 || sum > 1+1e-9 {
		t.Errorf("the episode is worth %g, want 1", sum)
	}
	_, outs = playTask(t, typ, "clamp", edit("conftest.py", "x"), done)
	if r := outs[0].Reward; r > -0.0999 || r < -0.1001 {
		t.Errorf("a flagged write costs %g", r)
	}
}

func TestNaiveTypeCanBeGamed(t *testing.T) {
	typ := newType(t, Options{UserTasks: []Task{clampTask()}, Naive: true})
	if typ.Spec().Name != NaiveName {
		t.Errorf("called %s", typ.Spec().Name)
	}
	_, outs := playTask(t, typ, "clamp", edit("test_solution.py", "def test_ok():\n    assert True\n"), done)
	if outs[1].Reward != 1 {
		t.Errorf("rewritten tests earn %g; the example is no example", outs[1].Reward)
	}
	// What it pays and what is true are told apart in the parts.
	parts := func(o envs.Outcome) (paid, fixed, changed float64) {
		for _, p := range o.Parts {
			switch p.Name {
			case partVisible:
				paid = p.Value * p.Weight
			case partOutcome:
				fixed = p.Value
			case partMeddled:
				changed = p.Value
			}
			if p.Name != partVisible && p.Weight != 0 {
				t.Errorf("%s is paid for", p.Name)
			}
		}
		return paid, fixed, changed
	}
	if paid, fixed, changed := parts(outs[1]); paid != 1 || fixed != 0 || changed != 1 {
		t.Errorf("rewritten tests: paid %g, truly fixed %g, tests changed %g", paid, fixed, changed)
	}
	_, outs = playTask(t, typ, "clamp", edit("conftest.py", cheatConftest), done)
	if outs[1].Reward != 1 {
		t.Errorf("a conftest that says passed earns %g", outs[1].Reward)
	}
	if paid, fixed, changed := parts(outs[1]); paid != 1 || fixed != 0 || changed != 1 {
		t.Errorf("a conftest: paid %g, truly fixed %g, tests changed %g", paid, fixed, changed)
	}
	_, outs = playTask(t, typ, "clamp", edit("solution.py", clampTask().Fixed), done)
	if paid, fixed, changed := parts(outs[1]); paid != 1 || fixed != 1 || changed != 0 {
		t.Errorf("a true fix: paid %g, truly fixed %g, tests changed %g", paid, fixed, changed)
	}
	if r := runScript(t, typ, "clamp", "lazy", 0); r != 0 {
		t.Errorf("doing nothing earns %g", r)
	}
}

func TestWithoutASandboxThereIsNoEnv(t *testing.T) {
	typ, err := New(Options{Unavailable: errors.New("user namespaces are off")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := typ.New(t.Context()); !errors.Is(err, envs.ErrUnavailable) || !strings.Contains(err.Error(), "namespaces") {
		t.Errorf("error %v", err)
	}
}

// The runs of one action share its time: code that sleeps, run again and
// again, must not turn a step into one that took too long, which would be a
// fault of ours.
func TestRunsOfOneActionShareItsTime(t *testing.T) {
	typ := newType(t, Options{UserTasks: []Task{clampTask()}})
	task, _ := typ.Tasks().Find("clamp")
	e, _ := typ.New(t.Context())
	if _, err := e.Reset(t.Context(), envs.Start{Task: task, Limits: typ.Spec().Limits}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Step(t.Context(), envs.Action{Text: edit("solution.py", "import time\ntime.sleep(600)\n")}); err != nil {
		t.Fatal(err)
	}
	var calls []envs.ToolCall
	for range 8 {
		calls = append(calls, envs.ToolCall{Name: "run_tests", Arguments: "{}"})
	}
	begin := time.Now()
	o, err := e.Step(t.Context(), envs.Action{ToolCalls: calls})
	if err != nil || !strings.Contains(o.Info.ToolError, "used up") {
		t.Errorf("%+v, %v", o.Info, err)
	}
	if d := time.Since(begin); d > 70*time.Second {
		t.Errorf("one action took %v", d)
	}
}
