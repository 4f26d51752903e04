package trainer

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/trainer"
	"github.com/proctor-rl/proctor/trainer/rl"
)

// report has 400 tasks of which so many pass before and after training.
func report(greedy0, sampled0, greedy1, sampled1 int) trainer.Report {
	ev := func(greedy, sampled int) trainer.Evaluation {
		e := trainer.Evaluation{Overall: map[string]trainer.Figure{}}
		for d, n := range map[string]int{trainer.Greedy: greedy, trainer.Sampled: sampled} {
			lo, hi := rl.Wilson(n, 400)
			e.Overall[d] = trainer.Figure{Tasks: 400, Passed: n, Rate: float64(n) / 400, Low: lo, High: hi}
		}
		return e
	}
	return trainer.Report{Start: ev(greedy0, sampled0), Final: ev(greedy1, sampled1), Seconds: 31}
}

// TestVerdict: the demonstration passes for what it promises and nothing less.
func TestVerdict(t *testing.T) {
	good := report(0, 30, 395, 390)
	for _, c := range []struct {
		name    string
		mlp, lm trainer.Report
		want    string // in the error, empty for none
	}{
		{"both learned", good, report(300, 150, 330, 310), ""},
		{"greedy as before", good, report(300, 150, 300, 310), ""},
		{"greedy one task lower", good, report(300, 150, 299, 310), "transformer, greedy"},
		{"intervals overlap", good, report(300, 150, 330, 165), "transformer, sampled"},
		{"got worse", good, report(300, 150, 330, 90), "transformer, sampled"},
		{"baseline stood still", report(0, 30, 0, 35), report(300, 150, 330, 310), "MLP, sampled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			err := verdict(&b, c.mlp, c.lm)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (!errors.Is(err, errNoGain) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v, want one of %q", err, c.want)
			}
			if !strings.Contains(b.String(), "the MLP took 31 s") {
				t.Errorf("printed %q", b.String())
			}
		})
	}
	var b bytes.Buffer
	if err := verdict(&b, good, report(300, 150, 330, 310)); err != nil || !strings.Contains(b.String(), "+40.0 points") {
		t.Errorf("%v, printed %q", err, b.String())
	}
}

// TestGroupTable is the lecture's third exercise on paper: rewards 1, 0, 0, 0
// and one episode that our side broke.
func TestGroupTable(t *testing.T) {
	var b bytes.Buffer
	if err := groupTable(&b, []float64{1, 0, 0, 0, math.NaN()}, []bool{true, true, true, true, false}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"mean = (1 + 0 + 0 + 0) / 4 = 0.2500", "= 0.5000",
		"1          1.000 |   +0.7500   +0.7500 |   +1.4997   +1.4997 |   +1.0000",
		"2          0.000 |   -0.2500   -0.2500 |   -0.4999   -0.4999 |   -0.3333",
		"5           null | our side failed",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := groupTable(&b, []float64{1, 1}, []bool{true, true}); err != nil || !strings.Contains(b.String(), "teaches nothing") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// TestCheckGrowth: a history that lost a byte is found.
func TestCheckGrowth(t *testing.T) {
	var b bytes.Buffer
	if err := checkGrowth(&b, []string{"a", "ab", "abc"}); err != nil || !strings.Contains(b.String(), "1 < 2 < 3 bytes") {
		t.Errorf("%v, %q", err, b.String())
	}
	for _, bad := range [][]string{{"ab", "b"}, {"ab", "ab"}, {"a", "ab", "acb"}} {
		if err := checkGrowth(&b, bad); err == nil {
			t.Errorf("%q passed", bad)
		}
	}
}

// TestTableShowsSlices: a policy that is lost on one slice cannot hide it behind
// the whole.
func TestTableShowsSlices(t *testing.T) {
	r := report(0, 30, 395, 390)
	figure := func(rate float64) trainer.Figure { return trainer.Figure{Tasks: 200, Rate: rate} }
	for _, d := range []string{trainer.Greedy, trainer.Sampled} {
		r.Start.Slices = map[string]map[string]trainer.Figure{d: {"seen": figure(0.1), "unseen": figure(0)}}
		r.Final.Slices = map[string]map[string]trainer.Figure{d: {"seen": figure(0.9625), "unseen": figure(0.7125)}}
		var b bytes.Buffer
		table(&b, "MLP", r)
		seen, unseen := strings.Index(b.String(), " seen"), strings.Index(b.String(), " unseen")
		if seen < 0 || unseen < seen || !strings.Contains(b.String()[unseen:], "0.71") {
			t.Errorf("%s: the table is\n%s", d, b.String())
		}
	}
}
