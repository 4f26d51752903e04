package grammar

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/codefix"
)

// play is a demonstration, interpreted; ok is false where it needs Python.
func play(t *testing.T, typ *codefix.Type, task envs.Task, noise float64, seed int) (actions []string, score float64, ok bool) {
	t.Helper()
	e, err := typ.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	obs, err := e.Reset(t.Context(), envs.Start{Task: task, Seed: 1, Limits: typ.Spec().Limits})
	if errors.Is(err, errAsked) {
		return nil, 0, false
	}
	if err != nil {
		t.Fatal(err)
	}
	s := demonstrate(task.Private.(*codefix.Task), noise, rand.New(rand.NewPCG(3, uint64(seed))))
	for range 30 {
		a := s.Act(obs)
		actions = append(actions, a.Text)
		out, err := e.Step(t.Context(), a)
		if errors.Is(err, errAsked) {
			return nil, 0, false
		}
		if err != nil {
			t.Fatal(err)
		}
		if out.Info.ParseError != "" || out.Info.ToolError != "" {
			t.Fatalf("%q: %s%s", a.Text, out.Info.ParseError, out.Info.ToolError)
		}
		if out.Terminated {
			return actions, out.Grade.Score, true
		}
		obs = out.Observation
	}
	t.Fatalf("it does not end: %q", actions)
	return nil, 0, false
}

var wholeEdit = regexp.MustCompile(`^Thought: (.*) differs\nAction: edit\[ (\d)\](.*)\n$`)

// Without noise every bug is repaired at the first try. The first thought is
// the repaired function, the second as much of it as the file has, and it
// stops in the line that is edited.
func TestDemonstratorRepairs(t *testing.T) {
	typ, err := New(codefix.Options{Runner: Interpreter{Next: nobody{}}, Key: []byte("k")})
	if err != nil {
		t.Fatal(err)
	}
	played, solved := 0, 0
	for i := range 150 {
		task, err := typ.Tasks().At(envs.SplitTrain, i)
		if err != nil {
			t.Fatal(err)
		}
		actions, score, ok := play(t, typ, task, 0, i)
		if !ok {
			continue
		}
		played++
		if score != 1 {
			t.Fatalf("task %d: %q", i, actions)
		}
		m := wholeEdit.FindStringSubmatch(actions[1])
		if m == nil || len(actions) > 4 {
			t.Fatalf("task %d: %q", i, actions)
		}
		gold := strings.Split(task.Private.(*codefix.Task).Fixed, "\n")
		var text strings.Builder
		for n, l := range gold[1 : len(gold)-1] {
			fmt.Fprintf(&text, " %d%s", n+2, codefix.Indented(l))
		}
		stated := text.String()
		if actions[0] != "Thought:"+stated+"\nAction: read[]\n" {
			t.Errorf("task %d plans %q, not %q", i, actions[0], stated)
		}
		if !strings.HasPrefix(stated, " "+m[1]) {
			t.Errorf("task %d states %q of %q", i, m[1], stated)
		}
		if !strings.Contains(stated, m[2]+m[3]) {
			t.Errorf("task %d edits line %s to %q", i, m[2], m[3])
		}
		if _, score, ok := play(t, typ, task, 0.8, i); ok && score == 1 {
			solved++
		}
	}
	if played < 130 || solved == 0 || solved > played*9/10 {
		t.Errorf("%d played, %d solved with noise", played, solved)
	}
}

func TestDiffers(t *testing.T) {
	for _, c := range [][3]string{
		{">> if x <= 3:", ">> if x < 3:", ">> if x <="},
		{">> if x < 3:", ">> if x <= 3:", ">> if x <"},
		{">> if x:", ">> if not x:", ">> if x"},
		{"> for x in xs:", "> for x in xs[1:]:", "> for x in xs:"},
		{"> for x in xs[:-1]:", "> for x in xs[:-2]:", "> for x in xs[:-1"},
		{"> r = 10", "> r = 1", "> r = 10"},
		{"> r = x + 1", "> r = x", "> r = x +"},
		{"> r = x", "> r = x + 1", "> r = x"},
	} {
		if got := c[0][:differs(c[0], c[1])]; got != c[2] {
			t.Errorf("%q from %q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}
