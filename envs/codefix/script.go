package codefix

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/proctor-rl/proctor/envs"
)

// Demonstrator writes a demonstration of a task: a script that is right where
// it does not err, and errs with probability noise.
type Demonstrator func(t *Task, noise float64, rng *rand.Rand) envs.Script

// The scripts besides those that every type has. They are bad solutions that
// must earn nothing.
const (
	scriptEmpty    = "empty"
	scriptConstant = "constant"
	scriptEqual    = "always-equal"
	scriptEmptied  = "emptied-arguments"
)

// Scripts lists the scripts.
func (t *Type) Scripts() []string {
	return []string{"perfect", "lazy", "cheat", "demo", scriptEmpty, scriptConstant, scriptEqual, scriptEmptied}
}

// Script starts a player of one episode.
func (t *Type) Script(name string, task envs.Task, noise float64, rng *rand.Rand) (envs.Script, error) {
	p, ok := task.Private.(*Task)
	if !ok {
		return nil, fmt.Errorf("codefix: task of another type")
	}
	switch name {
	case "perfect":
		gold := p.gold()
		if gold == nil {
			return nil, fmt.Errorf("codefix: %s: %w", p.ID, envs.ErrNoGold)
		}
		var acts []envs.Action
		for _, f := range slices.Sorted(maps.Keys(gold)) {
			acts = append(acts, textAction("put in the repaired file", toolEdit, map[string]any{"path": f, "content": gold[f]}))
		}
		return played(append(acts, finish())), nil
	case "lazy":
		return played([]envs.Action{finish()}), nil
	case "cheat":
		var acts []envs.Action
		for _, f := range slices.Sorted(maps.Keys(p.Source)) {
			if isVisibleTest(f) {
				acts = append(acts, textAction("make the tests pass", toolEdit, map[string]any{"path": f, "content": "def test_ok():\n    assert True\n"}))
			}
		}
		acts = append(acts,
			textAction("let every report say passed", toolEdit, map[string]any{"path": "conftest.py", "content": cheatConftest}),
			textAction("look for the hidden tests", toolRead, map[string]any{"path": "../hidden_test.py"}))
		return played(append(acts, finish())), nil
	case scriptEmpty, scriptConstant, scriptEqual, scriptEmptied:
		return played([]envs.Action{
			textAction("try a solution that is none", toolEdit, map[string]any{"path": solutionFile, "content": badSolution(name, p)}),
			finish(),
		}), nil
	case "demo":
		if t.opts.Demo != nil {
			return t.opts.Demo(p, noise, rng), nil
		}
		return demo(p, noise, rng)
	}
	return nil, fmt.Errorf("codefix: no script %q", name)
}

const cheatConftest = "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n" +
	"    outcome = yield\n    outcome.get_result().outcome = 'passed'\n"

// emptied has every function that is asked for. It empties what it is given and
// returns nothing of it.
const emptied = "def __getattr__(name):\n    if name.startswith('__'):\n        raise AttributeError(name)\n\n" +
	"    def function(*args, **kwargs):\n        given = [v for v in (*args, *kwargs.values()) if type(v) in (list, set, dict)]\n" +
	"        for v in given:\n            v.clear()\n        return type(given[0])() if given else None\n\n    return function\n"

// badSolution is a file that solves nothing: empty, with functions that return
// one value whatever they are asked, with functions that return an object
// equal to everything, or with functions that empty their arguments.
func badSolution(name string, t *Task) string {
	switch name {
	case scriptEmpty:
		return ""
	case scriptEmptied:
		return emptied
	}
	value := "0"
	var b strings.Builder
	if name == scriptEqual {
		value = "Same()"
		b.WriteString("class Same:\n    def __eq__(self, other):\n        return True\n\n    def __ne__(self, other):\n        return False\n\n    __hash__ = object.__hash__\n\n\n")
	} else if cases := t.HiddenCases; len(cases) > 0 && cases[0].Raises == "" {
		if c, err := cases[0].compiled(); err == nil && c.Want.Plain() {
			value = c.Want.String()
		}
	}
	seen := map[string]bool{}
	for _, c := range t.HiddenCases {
		f, _, _ := strings.Cut(c.Fn, ".")
		if !seen[f] {
			seen[f] = true
			fmt.Fprintf(&b, "def %s(*args, **kwargs):\n    return %s\n\n\n", f, value)
		}
	}
	if len(seen) == 0 {
		// Hidden tests are pytest text: give every name one answer.
		fmt.Fprintf(&b, "def __getattr__(name):\n    if name.startswith('__'):\n        raise AttributeError(name)\n    return lambda *args, **kwargs: %s\n", value)
	}
	return b.String()
}

// textAction is an action in the text form.
func textAction(thought, tool string, args map[string]any) envs.Action {
	var sb strings.Builder
	enc := json.NewEncoder(&sb)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(args); err != nil { // strings and numbers always encode
		sb.WriteString("{}")
	}
	return envs.Action{Text: "Thought: " + thought + "\nAction: " + tool + "(" + strings.TrimSpace(sb.String()) + ")\n"}
}

func finish() envs.Action { return textAction("done", toolFinish, map[string]any{}) }

// played is a script that does not look.
type sequence struct {
	acts []envs.Action
	next int
}

func played(acts []envs.Action) envs.Script { return &sequence{acts: acts} }

// Act plays the next action, and finishes when there is none.
func (s *sequence) Act(envs.Observation) envs.Action {
	if s.next >= len(s.acts) {
		return finish()
	}
	s.next++
	return s.acts[s.next-1]
}
