package grammar

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/codefix"
)

// demonstrate plays a task as a fallible programmer: read; say line by line
// what the statement asks for, up to the first word that the file has
// otherwise; put that line right; mostly run the cases; and if they fail, read
// again or give up. With probability noise it misunderstands the statement:
// then a line that it states is wrong. It never misjudges whether the file says
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

// check states the lines up to the first word that the file has otherwise, and
// what that line should be.
func (d *demo) check() (codefix.LineEdit, string) {
	stated := d.gold
	if w, ok := d.misreading(); ok && d.rng.Float64() < d.noise {
		stated = append([]string(nil), d.gold...)
		stated[w.Line-1] = w.Text
	}
	var b strings.Builder
	for i := 1; i < len(stated); i++ {
		if i > 1 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d", i+1)
		line := codefix.Indented(stated[i])
		if stated[i] != d.now[i] {
			b.WriteString(line[:differs(line, codefix.Indented(d.now[i]))] + " differs")
			return codefix.LineEdit{Line: i + 1, Text: stated[i]}, b.String()
		}
		b.WriteString(line)
	}
	return codefix.LineEdit{}, ""
}

var codeToken = regexp.MustCompile(`[A-Za-z]+|[0-9]+|//|[<>=!]=|\S`)

// differs is the end of the first token of a that is not the one of b.
func differs(a, b string) int {
	ta, tb := codeToken.FindAllStringIndex(a, -1), codeToken.FindAllStringIndex(b, -1)
	for i, t := range ta {
		if i == len(tb) || a[t[0]:t[1]] != b[tb[i][0]:tb[i][1]] {
			return t[1]
		}
	}
	return len(a)
}

// misreading draws a wrong idea of a line that comes no later than the first
// that needs repair. A later one would have the demonstrator call a broken line
// right, and what learns from it would trust the file instead of the statement.
func (d *demo) misreading() (codefix.LineEdit, bool) {
	first := 0
	for first < len(d.gold)-1 && d.now[first] == d.gold[first] {
		first++
	}
	var may []codefix.LineEdit
	for _, w := range d.wrong {
		if w.Line <= first+1 && w.Text != d.now[w.Line-1] {
			may = append(may, w)
		}
	}
	if len(may) == 0 {
		return codefix.LineEdit{}, false
	}
	return may[d.rng.IntN(len(may))], true
}

func (d *demo) act(thought, tool, rest string) envs.Action {
	d.did = tool
	if thought != "" {
		thought = "Thought: " + thought + "\n"
	}
	return envs.Action{Text: thought + "Action: " + tool + rest + "\n"}
}
