package grammar

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/codefix"
)

// demonstrate plays a task as a fallible programmer: write down from the
// statement how the function should read; read how it does; go through the
// lines up to the first word that differs; put that line right; mostly run the
// cases; and if they fail, start over or give up. With probability noise it
// misunderstands the statement: then a line of what it writes down is wrong;
// and with less it does nothing after reading. It never misjudges whether the
// file says what it has written down.
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
	plan      []string // how the function should read, as it was understood
	did       string   // the tool of the last action
	attempts  int
}

const (
	maxAttempts = 3
	runs        = 0.9 // how often an edit is followed by a run
	givesUp     = 0.3 // how often a failing run is followed by the end
	idles       = 0.4 // share of noise: how often nothing is done after reading
)

// Act plays the next action.
func (d *demo) Act(obs envs.Observation) envs.Action {
	switch d.did {
	case "":
		return d.read()
	case "read":
		if d.rng.Float64() < idles*d.noise {
			break
		}
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
			return d.read()
		}
	}
	return d.act("", "finish", "[]")
}

// read writes down how the function should read, and looks how it does.
func (d *demo) read() envs.Action {
	d.plan = d.gold
	if w, ok := d.misreading(); ok && d.rng.Float64() < d.noise {
		d.plan = append([]string(nil), d.gold...)
		d.plan[w.Line-1] = w.Text
	}
	lines := make([]string, 0, len(d.plan))
	for i, l := range d.plan[1:] {
		lines = append(lines, strconv.Itoa(i+2)+codefix.Indented(l))
	}
	return d.act(strings.Join(lines, " "), "read", "[]")
}

// check repeats the plan up to the first word that the file has otherwise, and
// says what that line should be.
func (d *demo) check() (codefix.LineEdit, string) {
	var b strings.Builder
	for i := 1; i < len(d.plan); i++ {
		if i > 1 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Itoa(i + 1))
		line := codefix.Indented(d.plan[i])
		if d.plan[i] != d.now[i] {
			b.WriteString(line[:differs(line, codefix.Indented(d.now[i]))] + " differs")
			return codefix.LineEdit{Line: i + 1, Text: d.plan[i]}, b.String()
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
