package codefix

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/proctor-rl/proctor/envs"
)

// demo plays a task as a fallible programmer: look at the files, change some
// lines (wrongly with probability noise), run the tests, try again while they
// fail, finish.
func demo(t *Task, noise float64, rng *rand.Rand) (envs.Script, error) {
	gold := t.gold()
	if gold == nil {
		return nil, fmt.Errorf("codefix: %s: %w", t.ID, envs.ErrNoGold)
	}
	d := &demoScript{rng: rng, noise: noise, gold: gold, now: map[string]string{}}
	for _, f := range slices.Sorted(maps.Keys(t.Source)) {
		if !isVisibleTest(f) {
			d.now[f] = t.Source[f]
			d.unread = append(d.unread, f)
		}
	}
	return d, nil
}

type demoScript struct {
	rng      *rand.Rand
	noise    float64
	gold     map[string]string
	now      map[string]string
	unread   []string
	edited   bool
	attempts int
}

// Act plays the next action.
func (d *demoScript) Act(obs envs.Observation) envs.Action {
	if len(d.unread) > 0 {
		f := d.unread[0]
		d.unread = d.unread[1:]
		return textAction("look at "+f, toolRead, map[string]any{"path": f})
	}
	if d.edited {
		d.edited = false
		if d.rng.Float64() < 0.8 {
			return textAction("see whether the tests pass", toolRun, map[string]any{})
		}
		return finish()
	}
	if d.attempts > 0 && (strings.Contains(obs.Text, " 0 failed, 0 errors") || d.attempts >= 4) {
		return finish()
	}
	d.attempts++
	for _, f := range slices.Sorted(maps.Keys(d.gold)) {
		if d.now[f] == d.gold[f] {
			continue
		}
		first, last, text := difference(d.now[f], d.gold[f])
		why := fmt.Sprintf("line %d of %s is wrong", first, f)
		if d.rng.Float64() < d.noise {
			// A plausible slip: the right line, indented or changed wrongly.
			text = strings.Replace(text, "return ", "return not ", 1)
			if n := len(strings.Split(d.now[f], "\n")); first < n-1 {
				first, last = first+1, first
			}
		}
		d.now[f] = spliced(d.now[f], first, last, text)
		d.edited = true
		return textAction(why, toolReplace, map[string]any{"path": f, "first": first, "last": last, "content": text})
	}
	return finish()
}

// difference is the one range of lines of a that b has otherwise.
func difference(a, b string) (first, last int, text string) {
	la, lb := strings.Split(a, "\n"), strings.Split(b, "\n")
	i := 0
	for i < len(la) && i < len(lb) && la[i] == lb[i] {
		i++
	}
	ea, eb := len(la), len(lb)
	for ea > i && eb > i && la[ea-1] == lb[eb-1] {
		ea, eb = ea-1, eb-1
	}
	return i + 1, ea, strings.Join(lb[i:eb], "\n")
}

// spliced is what replace_lines makes of a file.
func spliced(text string, first, last int, content string) string {
	w := newWorkspace(Files{solutionFile: []byte(text)}, false)
	if _, err := w.replaceLines(solutionFile, first, last, content); err != nil {
		return text
	}
	return string(w.files[solutionFile])
}
