package grammar

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/envs"
)

// The interpreter decides what the right answers are, so it must agree with
// Python on repaired and on broken functions, exceptions included.
func TestInterpreterAgreesWithPython(t *testing.T) {
	var script strings.Builder
	script.WriteString("import json\ndef show(code, xs):\n    d = {}\n    exec(code, d)\n    try:\n        return json.dumps(d['f'](xs), separators=(',', ':'))\n    except Exception as e:\n        return type(e).__name__\n")
	var want []string
	for i := range 400 {
		ch := choose(envs.SplitTrain, i)
		progs := []*prog{ch.gold, ch.bug.prog}
		if ms := mutants(ch.gold); len(ms) > 0 {
			progs = append(progs, ms[i%len(ms)].prog)
		}
		for _, p := range progs {
			for _, xs := range append(ch.shown, nil, []int64{0}) {
				v, err := p.run(xs)
				switch {
				case err == nil:
					want = append(want, v.json())
				case errors.Is(err, errSize), errors.Is(err, errOther):
					continue
				default:
					want = append(want, err.Error())
				}
				fmt.Fprintf(&script, "print(show(%q, %s))\n", p.text(), list(xs))
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), "python3", "-I", "-")
	cmd.Stdin = strings.NewReader(script.String())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("python3: %v\n%.500s", err, out)
	}
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(got) != len(want) || len(want) < 3000 {
		t.Fatalf("%d answers for %d calls", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("call %d: python %s, here %s", i, got[i], want[i])
		}
	}
}

func TestSpecificationsAreManyAndSplit(t *testing.T) {
	var n [3]int
	for _, s := range allSpecs {
		n[s.kept()]++
	}
	total := len(allSpecs)
	t.Logf("%d specifications: %d train, %d validation, %d test", total, n[keptTrain], n[keptValidation], n[keptTest])
	if total < 4000 {
		t.Errorf("only %d specifications", total)
	}
	if share := float64(n[keptTest]) / float64(total); share < 0.18 || share > 0.22 {
		t.Errorf("%.3f of the specifications are held out, want about a fifth", share)
	}
	trained := map[spec]bool{}
	for i := range 3000 {
		trained[choose(envs.SplitTrain, i).spec] = true
	}
	for i := range 600 {
		ch := choose(envs.SplitTest, i)
		if (ch.slice == "unseen") != (ch.spec.kept() == keptTest) {
			t.Fatalf("test task %d is called %s", i, ch.slice)
		}
		if ch.slice == "unseen" && trained[ch.spec] {
			t.Fatalf("specification %v is in train and held out", ch.spec)
		}
	}
}

func TestTasksAreDeterministicAndFoundByID(t *testing.T) {
	s := newSource([]byte("k"))
	other := newSource([]byte("another"))
	for _, split := range splitCodes {
		for _, i := range []int{0, 1, 2, 77, sizes[split] - 1} {
			a, err := s.At(split, i)
			if err != nil {
				t.Fatal(err)
			}
			b, err := s.Find(a.ID)
			if err != nil {
				t.Fatal(err)
			}
			if ja, jb := marshal(t, a), marshal(t, b); ja != jb {
				t.Fatalf("%s %d differs when found by id", split, i)
			}
			c, err := other.At(split, i)
			if err != nil {
				t.Fatal(err)
			}
			if c.ID != a.ID || c.Prompt != a.Prompt || marshal(t, c.Shown) != marshal(t, a.Shown) {
				t.Errorf("%s %d: the public part depends on the key", split, i)
			}
			if marshal(t, c.HiddenCases) == marshal(t, a.HiddenCases) {
				t.Errorf("%s %d: hidden cases do not depend on the key", split, i)
			}
		}
	}
	for _, id := range []string{"", "zz", strings.Repeat("0", 32), strings.Repeat("A", 32)} {
		if _, err := s.Find(id); err == nil {
			t.Errorf("id %q was found", id)
		}
	}
}

// What a hidden set must do: fail the bug, tell apart every mutant of gold that
// a large pool of inputs tells apart, and hold no visible case's only answer.
func TestHiddenInputsKillMutants(t *testing.T) {
	seen := map[string]int{}
	for i := range 300 {
		ch := choose(envs.SplitTrain, i)
		seen[ch.bug.kind]++
		task := ch.task("x", envs.SplitTrain, 99, uint64(i))
		var hidden [][]int64
		for _, c := range task.HiddenCases {
			var args [][]int64
			if err := json.Unmarshal(c.Args, &args); err != nil {
				t.Fatal(err)
			}
			hidden = append(hidden, args[0])
		}
		if len(hidden) < fixedCases || len(hidden) > mostCases {
			t.Fatalf("task %d has %d hidden cases", i, len(hidden))
		}
		killed := func(p *prog, inputs [][]int64) bool {
			for _, xs := range inputs {
				if w, err := ch.gold.run(xs); err == nil && !same(p, xs, w) {
					return true
				}
			}
			return false
		}
		if !killed(ch.bug.prog, hidden) || !killed(ch.bug.prog, ch.shown) {
			t.Fatalf("task %d: the bug passes:\n%s", i, ch.bug.prog.text())
		}
		var probes [][]int64
		for a := int64(-9); a <= 12; a++ {
			probes = append(probes, []int64{a}, []int64{a, 1}, []int64{3, a, 5}, []int64{0, 2, a, 4})
		}
		for _, m := range mutants(ch.gold) {
			if killed(m.prog, probes) && !killed(m.prog, hidden) {
				t.Errorf("task %d: a mutant survives\n%s\n%s", i, ch.gold.text(), m.prog.text())
			}
		}
	}
	for _, k := range kinds {
		if seen[k] < 15 {
			t.Errorf("only %d bugs of kind %s: %v", seen[k], k, seen)
		}
	}
	t.Log(seen)
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func BenchmarkAt(b *testing.B) {
	s := newSource([]byte("k"))
	for i := range b.N {
		if _, err := s.At(envs.SplitTrain, i); err != nil {
			b.Fatal(err)
		}
	}
}
