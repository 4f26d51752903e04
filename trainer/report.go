package trainer

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/proctor-rl/proctor/trainer/rl"
)

// Report is what a run comes to.
type Report struct {
	Dir        string     `json:"dir"`
	Start      Evaluation `json:"start"` // before the first update
	Final      Evaluation `json:"final"` // after the last, of the best policy where one is kept
	BestUpdate int        `json:"best_update"`
	Updates    int        `json:"updates"`
	Episodes   int        `json:"episodes"`
	Tokens     int        `json:"tokens"`
	Seconds    float64    `json:"seconds"`
	RLSeconds  float64    `json:"rl_seconds"`
}

// String shows a figure as 0.912 [0.890, 0.930].
func (f Figure) String() string {
	return fmt.Sprintf("%.3f [%.3f, %.3f]", f.Rate, f.Low, f.High)
}

// Text is an evaluation on a few lines.
func (e Evaluation) Text() string {
	var b strings.Builder
	for _, d := range []string{Greedy, Sampled} {
		f, ok := e.Overall[d]
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "  %-8s %s of %d tasks", d, f, f.Tasks)
		if len(e.Slices[d]) > 1 {
			for _, s := range sortedKeys(e.Slices[d]) {
				fmt.Fprintf(&b, "   %s %s", s, e.Slices[d][s])
			}
		}
		if f.Invalid > 0 {
			fmt.Fprintf(&b, "   %d episodes excluded", f.Invalid)
		}
		b.WriteString("\n           ")
		for _, k := range sortedKeys(e.Kinds[d]) {
			fmt.Fprintf(&b, " %s %.2f", k, e.Kinds[d][k].Rate)
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Improvement compares two evaluations task by task.
type Improvement struct {
	Decoding     string  `json:"decoding"`
	Diff         float64 `json:"diff"` // of success rates on the tasks both have
	Low          float64 `json:"low"`  // 95 %, resampling tasks
	High         float64 `json:"high"`
	PNotBetter   float64 `json:"p_not_better"`
	Separate     bool    `json:"intervals_separate"` // the two 95 % intervals do not overlap
	NotLowerThan bool    `json:"not_lower"`
}

// Compare is the improvement from a to b at a decoding.
func Compare(a, b Evaluation, decoding string) Improvement {
	x, y := paired(a, b, decoding)
	i := Improvement{
		Decoding: decoding, Separate: b.Overall[decoding].Low > a.Overall[decoding].High,
		NotLowerThan: b.Overall[decoding].Rate >= a.Overall[decoding].Rate,
	}
	if len(x) > 0 {
		i.Diff, i.Low, i.High, i.PNotBetter = rl.PairedBootstrap(x, y, 2000, rand.New(rand.NewPCG(1, 2)))
	}
	return i
}

// Text is the report on a few lines.
func (r Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "before training:\n%s\nafter %d updates, %d episodes, %.0fs (the policy of update %d is kept):\n%s\n",
		r.Start.Text(), r.Updates, r.Episodes, r.Seconds, r.BestUpdate, r.Final.Text())
	for _, d := range []string{Greedy, Sampled} {
		i := Compare(r.Start, r.Final, d)
		fmt.Fprintf(&b, "  %-8s %+.3f [%+.3f, %+.3f] on the same tasks; 95 %% intervals %s\n", d, i.Diff, i.Low, i.High, map[bool]string{true: "do not overlap", false: "overlap"}[i.Separate])
	}
	return b.String()
}
