package codefix

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/proctor-rl/proctor/internal/sandbox"
)

// counting counts the runs of trusted tests.
type counting struct {
	Runner
	n atomic.Int32
}

func (c *counting) Proxied(ctx context.Context, job sandbox.ProxiedJob) (sandbox.PytestResult, error) {
	c.n.Add(1)
	return c.Runner.Proxied(ctx, job)
}

func argumentTask(t *testing.T, id string, gold bool) Task {
	t.Helper()
	m := map[string]any{
		"id": id, "prompt": "dedupe(xs) is the sorted list of the different values; put(xs, x) puts x in its place.",
		"files": map[string]string{"solution.py": "def dedupe(xs): return xs\n"},
		"hidden_test": "from solution import dedupe, put\n\ndef test_dedupe():\n    xs = [3, 1, 3]\n    assert dedupe(xs) == sorted(set(xs))\n\n" +
			"def test_put():\n    xs = [1, 4]\n    put(xs, 3)\n    assert xs == [1, 3, 4]\n\ndef test_alone():\n    xs = [2, 2]\n    assert dedupe(xs + [1]) == [1, 2]\n    assert dedupe(values := [7]) == [7] and values[:1] in ([7], [])\n",
	}
	if gold {
		m["fixed"] = "def dedupe(xs):\n    return sorted(set(xs))\n\ndef put(xs, x):\n    xs.append(x)\n    xs.sort()\n"
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	task, err := ParseTask(b)
	if err != nil {
		t.Fatal(err)
	}
	return *task
}

// What the gold solution leaves alone is frozen for the hidden test; a
// submission that changes it has to pass with its changes in view as well.
func TestArgumentsOfHiddenTests(t *testing.T) {
	const put = "\ndef put(xs, x):\n    xs.append(x)\n    xs.sort()\n"
	run := &counting{Runner: pool}
	withGold, without := argumentTask(t, "args", true), argumentTask(t, "args-nogold", false)
	typ := newType(t, Options{UserTasks: []Task{withGold, without}, Runner: run})
	for i, c := range []struct {
		name, text string
		want       float64
		runs       int32
	}{
		{"as the gold does it", "def dedupe(xs):\n    return sorted({*xs})\n" + put, 1, 2}, // and the gold's own
		{"changes nothing that it need not", "def dedupe(xs):\n    return sorted(dict.fromkeys(xs))\n" + put, 1, 1},
		{"sorts in place", "def dedupe(xs):\n    xs.sort()\n    return sorted(set(xs))\n" + put, 1, 2},
		{"empties what decides", "def dedupe(xs):\n    if len(xs) == 3 and xs[0] == 3:\n        xs.clear()\n    return sorted(set(xs))\n" + put, 0, 1},
		{"spoils its input", "def dedupe(xs):\n    out = sorted(set(xs))\n    if out == [7]: xs[:] = [8]\n    return out\n" + put, 0, 2},
	} {
		run.n.Store(0)
		_, outs := playTask(t, typ, "args", edit("solution.py", c.text), done)
		if got := outs[1].Reward; got != c.want || run.n.Load() != c.runs {
			t.Errorf("%d, %s: earned %g in %d runs, want %g in %d", i, c.name, got, run.n.Load(), c.want, c.runs)
		}
	}
	// Without a gold solution everything is in view, and check finds the task.
	run.n.Store(0)
	weak := without
	weak.ID = "weak"
	weak.HiddenTest = strings.SplitAfter(without.HiddenTest, "sorted(set(xs))\n")[0]
	typ = newType(t, Options{UserTasks: []Task{without, weak}, Runner: run})
	_, outs := playTask(t, typ, "args-nogold", edit("solution.py", "def dedupe(xs):\n    return sorted(set(xs))\n"+put), done)
	if outs[1].Reward != 1 || run.n.Load() != 1 {
		t.Errorf("without gold: earned %g in %d runs", outs[1].Reward, run.n.Load())
	}
	if r := runScript(t, typ, "weak", scriptEmptied, 0); r != 1 {
		t.Errorf("the player that empties arguments earns %g on a task that lets it", r)
	}
	if r := runScript(t, typ, "args-nogold", scriptEmptied, 0); r != 0 {
		t.Errorf("the player that empties arguments earns %g", r)
	}
}
