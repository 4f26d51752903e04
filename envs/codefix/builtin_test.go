package codefix

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/internal/sandbox/grade"
)

func bankOf(t *testing.T) *bank {
	t.Helper()
	s, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	return s.(*bank)
}

func TestBuiltinTasksAreManyAndSplitByFunction(t *testing.T) {
	b := bankOf(t)
	families, bugs, pairs := map[string]int{}, 0, 0
	splitOf := map[string]string{}
	for _, f := range b.functions {
		if f.Family == "pairs" {
			pairs++
			if len(f.Files) != 2 {
				t.Errorf("%s has %d files", f.Fn, len(f.Files))
			}
		} else {
			families[f.Family]++
		}
		bugs += len(f.Bugs)
		if prev, ok := splitOf[f.Fn]; ok && prev != f.Split {
			t.Errorf("%s is in %s and %s", f.Fn, prev, f.Split)
		}
		splitOf[f.Fn] = f.Split
		held := f.Family == "graphs" || f.Family == "formats"
		if held && f.Split != envs.SplitTest {
			t.Errorf("%s of a held-out family is in %s", f.Fn, f.Split)
		}
		for _, bug := range f.Bugs {
			if bug.Kind == "del" && f.Split != envs.SplitTest {
				t.Errorf("%s: a deleted statement in %s", f.Fn, f.Split)
			}
		}
	}
	functions := 0
	for _, n := range families {
		functions += n
	}
	t.Logf("%d functions in %d families, %d two-file tasks, %d bugs; tasks: train %d, validation %d, test %d", functions, len(families), pairs, bugs,
		b.Len(envs.SplitTrain), b.Len(envs.SplitValidation), b.Len(envs.SplitTest))
	if functions < 150 || len(families) != 12 || pairs < 30 || bugs < 1500 {
		t.Errorf("%d functions in %d families, %d pairs, %d bugs", functions, len(families), pairs, bugs)
	}
	if b.Len(envs.SplitTrain)+b.Len(envs.SplitValidation)+b.Len(envs.SplitTest) != bugs || len(b.byID) != bugs {
		t.Errorf("%d ids for %d bugs", len(b.byID), bugs)
	}
}

// Whatever a client may read must not give away what it is graded by.
func TestBuiltinTasksAreWellFormed(t *testing.T) {
	b := bankOf(t)
	for _, f := range b.functions {
		seen := map[string]bool{}
		wants := map[string]bool{}
		for _, c := range append(slices.Clone(f.fixed), f.bank...) {
			if _, err := c.compiled(); err != nil {
				t.Fatalf("%s: %v", f.Fn, err)
			}
			seen[string(c.Args)] = true
			wants[string(c.Want)+c.Raises] = true
		}
		// Two different answers are enough to fail every constant: a predicate
		// has no third.
		if len(f.fixed)+len(f.bank) < 12 || len(wants) < 2 {
			t.Errorf("%s: %d fixed cases, %d in the bank, %d different answers", f.Fn, len(f.fixed), len(f.bank), len(wants))
		}
		for _, c := range f.Shown {
			if seen[string(c.args)] {
				t.Errorf("%s: the visible case %s is hidden as well", f.Fn, c.args)
			}
		}
	}
	for split, refs := range b.splits {
		for i, r := range refs {
			task := b.task(r)
			f := &b.functions[r.function]
			if strings.Contains(task.ID, f.Fn) || strings.Contains(task.ID, split) {
				t.Errorf("id %s", task.ID)
			}
			bug := f.Bugs[r.bug]
			if task.Source[bug.File] == f.Files[bug.File] {
				t.Errorf("%s %d: the patch changes nothing", split, i)
			}
			for name, text := range f.Files {
				if name != bug.File && task.Source[name] != text {
					t.Errorf("%s %d: %s is changed as well", split, i, name)
				}
				if bad := checkName(name, false); bad != nil {
					t.Errorf("%s is a name that no agent could write: %v", name, bad)
				}
			}
			if strings.Count(task.Source["test_solution.py"], "def test_") != 3 {
				t.Errorf("%s %d: visible tests\n%s", split, i, task.Source["test_solution.py"])
			}
		}
	}
}

// A draw is a matter of the server's key: another key draws other cases, the
// same key and seed the same ones.
func TestHiddenDraws(t *testing.T) {
	b := bankOf(t)
	task, err := b.At(envs.SplitTrain, 0)
	if err != nil {
		t.Fatal(err)
	}
	texts := func(key string, seed int64) string {
		var s []string
		for _, c := range newJudge(nil, []byte(key), false).hidden(task, seed)[len(task.HiddenCases):] {
			s = append(s, string(c.Args))
		}
		if len(s) != drawn || len(slices.Compact(slices.Sorted(slices.Values(s)))) != drawn {
			t.Fatalf("%d cases drawn", len(s))
		}
		return strings.Join(s, " ")
	}
	first := texts("a", 1)
	if first != texts("a", 1) || first == texts("b", 1) || first == texts("a", 2) {
		t.Error("draws do not depend on key and seed alone")
	}
}

// The gate: what must earn nothing and what must earn all. It takes a sample;
// PROCTOR_ADMIT=all ("make admit") takes every built-in task.
func TestAdmissionOnASample(t *testing.T) { //nolint:tparallel // only the whole bank is worth it
	typ := newType(t, Options{})
	b := bankOf(t)
	parts, all := 6, os.Getenv("PROCTOR_ADMIT") == "all"
	var admitted atomic.Int64
	for _, split := range slices.Sorted(maps.Keys(b.splits)) {
		if !all {
			for i := 0; i < b.Len(split); i += b.Len(split)/parts + 1 {
				admit(t, typ, b, split, i)
			}
			continue
		}
		for i := range b.Len(split) {
			t.Run(fmt.Sprint(split, i), func(t *testing.T) {
				t.Parallel()
				admit(t, typ, b, split, i)
				if n := admitted.Add(1); n%100 == 0 {
					t.Logf("%d of %d tasks", n, len(b.byID))
				}
			})
		}
	}
}

func admit(t *testing.T, typ *Type, b *bank, split string, i int) {
	t.Helper()
	task, err := b.At(split, i)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lazy", scriptEmpty, scriptConstant, scriptEqual, "perfect"} {
		want := 0.0
		w := newWorkspace(task.original(), false)
		switch name {
		case "perfect":
			want = 1
			for f, text := range task.gold() {
				w.files[f] = []byte(text)
			}
		case "lazy":
		default:
			w.files[solutionFile] = []byte(badSolution(name, task))
		}
		v, err := typ.judge.grade(t.Context(), task, w, int64(i))
		if err != nil {
			t.Fatal(err)
		}
		if (v.solved && want == 0) || (!v.solved && want == 1) {
			t.Errorf("%s %d (%s, %s): %s is solved=%t: %+v", split, i, task.Public["family"], task.Public["kind"], name, v.solved, v.tests)
		}
	}
}

var _ grade.Runner = Runner(nil)
