package grammar

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/codefix"
)

// demonstrate plays a task as a fallible programmer: read, edit a line (a
// wrong one with probability noise), mostly run the cases, try again while
// they fail, finish. Before an edit it says of each line whether it is right,
// which is what a small policy learns to do.
func demonstrate(t *codefix.Task, noise float64, rng *rand.Rand) envs.Script {
	split := func(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }
	return &demo{
		rng: rng, noise: noise, wrong: t.Wrong,
		gold: split(t.Fixed), now: split(t.Source["solution.py"]),
	}
}

type demo struct {
	rng       *rand.Rand
	noise     float64
	wrong     []codefix.LineEdit
	gold, now []string
	begun     bool
	edited    bool // the last action was an edit
	attempts  int
}

const maxAttempts = 3

// Act plays the next action.
func (d *demo) Act(obs envs.Observation) envs.Action {
	if !d.begun {
		d.begun = true
		if d.rng.Float64() >= d.noise*0.15 {
			return act("", "read[]")
		}
	}
	if d.edited {
		d.edited = false
		if d.rng.Float64() < 0.75 {
			return act("", "run[]")
		}
		return act("", "finish[]")
	}
	if d.attempts > 0 && (strings.HasPrefix(obs.Text, "0 failed") || d.attempts == maxAttempts || d.rng.Float64() < d.noise*0.5) {
		return act("", "finish[]")
	}
	d.attempts++
	d.edited = true
	e, ok := d.right()
	if !ok || len(d.wrong) > 0 && d.rng.Float64() < d.noise {
		if len(d.wrong) == 0 {
			return act("", "finish[]")
		}
		e = d.wrong[d.rng.IntN(len(d.wrong))]
	}
	d.now[e.Line-1] = e.Text
	var check strings.Builder
	check.WriteString("check")
	for l := 2; l < e.Line; l++ {
		fmt.Fprintf(&check, " %d ok", l)
	}
	fmt.Fprintf(&check, " %d bad", e.Line)
	return act(check.String(), fmt.Sprintf("edit[ %d]%s", e.Line, codefix.Indented(e.Text)))
}

// right is the repair of the first line that is not as it should be.
func (d *demo) right() (codefix.LineEdit, bool) {
	for i := range d.gold {
		if d.now[i] != d.gold[i] {
			return codefix.LineEdit{Line: i + 1, Text: d.gold[i]}, true
		}
	}
	return codefix.LineEdit{}, false
}

func act(thought, action string) envs.Action {
	if thought != "" {
		thought = "Thought: " + thought + "\n"
	}
	return envs.Action{Text: thought + "Action: " + action + "\n"}
}
