package grammar

import (
	"testing"

	"github.com/proctor-rl/proctor/envs"
)

// FuzzParse: only what the grammar writes is a program, and a program runs or
// fails as Python would; it never brings the grader down.
func FuzzParse(f *testing.F) {
	for i := range 20 {
		c := choose(envs.SplitTrain, i)
		f.Add(c.gold.text(), int64(3), int64(-1))
		f.Add(c.bug.prog.text(), int64(0), int64(1<<62))
	}
	f.Add("def f(xs):\n    r = xs\n    for x in xs:\n        r += 1\n    return r\n", int64(1), int64(2))
	f.Fuzz(func(t *testing.T, text string, a, b int64) {
		p, ok := parse(text)
		if !ok {
			return
		}
		if p.text() != text {
			t.Fatalf("%q was read as %q", text, p.text())
		}
		for _, xs := range [][]int64{nil, {a}, {a, b, a}} {
			v, err := p.run(xs)
			w, again := p.run(xs)
			if (err == nil) != (again == nil) || err == nil && v.json() != w.json() {
				t.Errorf("%q of %v: once %v %v, once %v %v", text, xs, v, err, w, again)
			}
		}
	})
}
