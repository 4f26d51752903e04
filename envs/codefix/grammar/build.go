package grammar

import (
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/codefix"
)

const (
	visibleCases = 3
	fixedCases   = 14
	mostCases    = 28
	poolCases    = 90
	wrongEdits   = 16
)

// choice is everything about a task that a client may work out: what the
// function should be, how it is broken and which cases show it.
type choice struct {
	spec  spec
	slice string // seen or unseen
	gold  *prog
	bug   mutant
	line  int // of the bug, counted from 1
	say   string
	shown [][]int64
	k, c  int64
}

// choose makes task i of a split. Equal calls give equal tasks.
func choose(split string, i int) choice {
	h := fnv.New64a()
	h.Write([]byte("codefix-grammar/1 " + split))
	rng := rand.New(rand.NewPCG(h.Sum64(), uint64(i)))
	kept, slice := keptTrain, "seen"
	if i%2 == 0 {
		switch split {
		case envs.SplitTest:
			kept, slice = keptTest, "unseen"
		case envs.SplitValidation:
			kept, slice = keptValidation, "unseen"
		}
	}
	for {
		s := allSpecs[rng.IntN(len(allSpecs))]
		if s.kept() != kept {
			continue
		}
		v := schemes[rng.IntN(len(schemes))]
		k, c := constant(rng), constant(rng)
		gold := s.program(v, k, c)
		ms := mutants(gold)
		bug := pick(ms, rng)
		ch := choice{spec: s, slice: slice, gold: gold, bug: bug, say: s.say(v, k, c), k: k, c: c}
		if ch.line = changedLine(gold, bug.prog); ch.line == 0 || !ch.show(rng) {
			continue
		}
		if hidden := ch.hidden(rand.New(rand.NewPCG(7, uint64(i)))); hidden == nil {
			continue
		}
		return ch
	}
}

// pick draws a kind of bug first, so that no kind is rare.
func pick(ms []mutant, rng *rand.Rand) mutant {
	kind := kinds[rng.IntN(len(kinds))]
	start := rng.IntN(len(ms))
	for i := range ms {
		if m := ms[(start+i)%len(ms)]; m.kind == kind {
			return m
		}
	}
	return ms[start]
}

var kinds = []string{"op", "cmp", "const", "off1", "neg", "var"}

var allSpecs = specs()

// changedLine is the one line in which two programs differ, 0 if none does.
func changedLine(a, b *prog) int {
	la, lb := a.lines(), b.lines()
	for i := range la {
		if la[i] != lb[i] {
			return i + 1
		}
	}
	return 0
}

// show picks the visible cases: at least one that fails, and others that pass
// where there are such.
func (ch *choice) show(rng *rand.Rand) bool {
	var fail, pass [][]int64
	for range 12 {
		xs := input(rng, ch.k, ch.c, 3, 5)
		w, ok := ch.gold.answer(xs)
		if !ok {
			return false
		}
		if same(ch.bug.prog, xs, w) {
			pass = append(pass, xs)
		} else {
			fail = append(fail, xs)
		}
	}
	if len(fail) == 0 {
		return false
	}
	ch.shown = append(ch.shown, fail[0])
	ch.shown = append(append(ch.shown, pass[:min(len(pass), visibleCases-1)]...), fail[1:]...)[:visibleCases]
	return true
}

// hidden draws the hidden inputs: a fixed number, and one more for each mutant
// that they would let through although some input of a large pool tells it
// apart. Nil means that the function says too little to be graded.
func (ch *choice) hidden(rng *rand.Rand) [][]int64 {
	var pool [][]int64
	var wants []value
	inputs := make([][]int64, 0, poolCases)
	for range poolCases {
		inputs = append(inputs, input(rng, ch.k, ch.c, 0, 7))
	}
	for _, a := range []int64{-1, 0, 1, ch.k - 1, ch.k, ch.k + 1, -ch.k - 1, -ch.k, -ch.k + 1, ch.c - 1, ch.c, ch.c + 1} {
		inputs = append(inputs, []int64{a}, []int64{rng.Int64N(22) - 9, a}, []int64{a, a, a})
	}
	for _, xs := range inputs {
		if w, ok := ch.gold.answer(xs); ok {
			pool, wants = append(pool, xs), append(wants, w)
		}
	}
	if len(pool) < poolCases*3/4 {
		return nil
	}
	n := fixedCases
	taken := func(p *prog, from, to int) int {
		for i := from; i < to; i++ {
			if !same(p, pool[i], wants[i]) {
				return i
			}
		}
		return -1
	}
	for _, m := range append(mutants(ch.gold), ch.bug) {
		if taken(m.prog, 0, n) >= 0 || n == mostCases {
			continue
		}
		if i := taken(m.prog, n, len(pool)); i >= 0 {
			pool[n], pool[i] = pool[i], pool[n]
			wants[n], wants[i] = wants[i], wants[n]
			n++
		}
	}
	distinct := map[string]bool{}
	for _, w := range wants[:n] {
		distinct[w.json()] = true
	}
	if len(distinct) < 4 || taken(ch.bug.prog, 0, n) < 0 {
		return nil
	}
	return pool[:n]
}

// input is a short list of small integers, with those about the constants
// drawn more often: there the mutants of a comparison part.
func input(rng *rand.Rand, k, c int64, least, most int) []int64 {
	xs := make([]int64, least+rng.IntN(most-least+1))
	for i := range xs {
		xs[i] = rng.Int64N(22) - 9
		if rng.IntN(3) == 0 {
			near := []int64{k - 1, k, k + 1, -k, c, 0, 1}
			xs[i] = near[rng.IntN(len(near))]
		}
	}
	return xs
}

func same(p *prog, xs []int64, want value) bool {
	got, err := p.run(xs)
	return err == nil && got.json() == want.json()
}

func (v value) json() string {
	switch v.kind {
	case 'b':
		return strconv.FormatBool(v.n != 0)
	case 'l':
		return list(v.l)
	}
	return strconv.FormatInt(v.n, 10)
}

func list(l []int64) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, n := range l {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(n, 10))
	}
	return b.String() + "]"
}

func cases(gold *prog, inputs [][]int64) []codefix.Case {
	var out []codefix.Case
	for _, xs := range inputs {
		w, ok := gold.answer(xs)
		if !ok {
			continue // the inputs were chosen so that gold answers
		}
		out = append(out, codefix.Case{Fn: "f", Args: json.RawMessage("[" + list(xs) + "]"), Want: json.RawMessage(w.json()), Tagged: true})
	}
	return out
}

// task puts a choice together with hidden inputs drawn from secret.
func (ch *choice) task(id, split string, secret, i uint64) *codefix.Task {
	var hidden [][]int64
	for try := uint64(0); hidden == nil; try++ {
		hidden = ch.hidden(rand.New(rand.NewPCG(secret+try, i)))
	}
	t := &codefix.Task{
		ID: id, Split: split,
		Prompt:      "Fix f: " + ch.say + ".",
		Source:      map[string]string{"solution.py": ch.bug.prog.text()},
		Fixed:       ch.gold.text(),
		HiddenCases: cases(ch.gold, hidden),
		Shown:       cases(ch.gold, ch.shown),
		Public: map[string]any{
			"kind": ch.bug.kind, "slice": ch.slice, "aggregate": aggregates[ch.spec.agg].say,
		},
	}
	rng := rand.New(rand.NewPCG(11, i))
	ms := mutants(ch.bug.prog)
	bad, gold := ch.bug.prog.lines(), ch.gold.lines()
	for range wrongEdits {
		m := ms[rng.IntN(len(ms))]
		if n := changedLine(ch.bug.prog, m.prog); n > 0 && n <= ch.line {
			if l := m.prog.lines()[n-1]; l != gold[n-1] && l != bad[n-1] {
				t.Wrong = append(t.Wrong, codefix.LineEdit{Line: n, Text: l})
			}
		}
	}
	return t
}
