package grammar

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/codefix"
)

// demonstrate plays a task as a fallible programmer: read; say line by line
// what the statement asks for and whether that is what the line says; put the
// first line that differs right; mostly run the cases; and if they fail, read
// again or give up. With probability noise it misunderstands the statement:
// then a line that it states is wrong. It never misjudges whether a line is
// what it has just stated.
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
	did       string // the tool of the last action
	attempts  int
}

const (
	maxAttempts = 3
	runs        = 0.9 // how often an edit is followed by a run
	givesUp     = 0.3 // how often a failing run is followed by the end
)

// Act plays the next action.
func (d *demo) Act(obs envs.Observation) envs.Action {
	switch d.did {
	case "":
		return d.act("", "read", "[]")
	case "read":
		if e, thought := d.check(); e.Line > 0 {
			d.attempts++
			d.now[e.Line-1] = e.Text
			return d.act(thought, "edit", fmt.Sprintf("[ %d]%s", e.Line, codefix.Indented(e.Text)))
		}
	case "edit":
		if d.rng.Float64() < runs {
			return d.act("", "run", "[]")
		}
	case "run":
		if !strings.HasPrefix(obs.Text, "0 failed") && d.attempts < maxAttempts && d.rng.Float64() >= givesUp {
			return d.act("", "read", "[]")
		}
	}
	return d.act("", "finish", "[]")
}

// check goes through the lines up to the first that is not what it states.
func (d *demo) check() (codefix.LineEdit, string) {
	stated := d.gold
	if len(d.wrong) > 0 && d.rng.Float64() < d.noise {
		// It takes the file's word up to the line that it gets wrong.
		if w := d.wrong[d.rng.IntN(len(d.wrong))]; d.now[w.Line-1] != w.Text {
			stated = append([]string(nil), d.now...)
			stated[w.Line-1] = w.Text
		}
	}
	var b strings.Builder
	for i := 1; i < len(stated); i++ {
		if i > 1 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d%s", i+1, codefix.Indented(stated[i]))
		if stated[i] != d.now[i] {
			b.WriteString(" bad")
			return codefix.LineEdit{Line: i + 1, Text: stated[i]}, b.String()
		}
		b.WriteString(" ok")
	}
	return codefix.LineEdit{}, ""
}

func (d *demo) act(thought, tool, rest string) envs.Action {
	d.did = tool
	if thought != "" {
		thought = "Thought: " + thought + "\n"
	}
	return envs.Action{Text: thought + "Action: " + tool + rest + "\n"}
}
