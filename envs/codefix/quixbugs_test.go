package codefix

import (
	"os"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

func quixbugsBank(t *testing.T) *bank {
	t.Helper()
	s, err := quixbugs()
	if err != nil {
		t.Fatal(err)
	}
	return s.(*bank)
}

func newQuixBugs(t *testing.T) *Type {
	t.Helper()
	typ, err := NewQuixBugs(Options{Runner: pool, Key: []byte("test")})
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

func TestQuixBugsTasks(t *testing.T) {
	b := quixbugsBank(t)
	if n := b.Len(envs.SplitTest); n < 30 || n != len(b.byID) || b.Len(envs.SplitTrain)+b.Len(envs.SplitValidation) != 0 {
		t.Errorf("%d programs, %d ids, %d to train on", n, len(b.byID), b.Len(envs.SplitTrain))
	}
	for _, f := range b.functions {
		seen, wants := map[string]bool{}, map[string]bool{}
		for _, c := range append(f.fixed[:len(f.fixed):len(f.fixed)], f.bank...) {
			if _, err := c.compiled(); err != nil {
				t.Fatalf("%s: %v", f.Family, err)
			}
			seen[string(c.Args)] = true
			wants[string(c.Want)] = true
		}
		if len(f.fixed)+min(len(f.bank), drawn) < 24 || len(wants) < 2 {
			t.Errorf("%s: %d fixed cases, %d in the bank, %d different answers", f.Family, len(f.fixed), len(f.bank), len(wants))
		}
		for _, c := range f.Shown {
			if seen[string(c.args)] {
				t.Errorf("%s: the visible case %s is hidden as well", f.Family, c.args)
			}
		}
		// The program is the one that was carried, to the letter.
		for _, bug := range f.Bugs {
			want, err := os.ReadFile("data/quixbugs/programs/" + f.Family + ".py")
			if err != nil {
				t.Fatal(err)
			}
			if got := patched(f.Files[bug.File], bug.Patch); got != string(want) {
				t.Errorf("%s is served as\n%s", f.Family, got)
			}
		}
	}
	for _, name := range []string{"LICENSE", "README.md"} {
		text, err := os.ReadFile("data/quixbugs/" + name)
		if err != nil || !strings.Contains(string(text), "Koppel") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The gate, on a few programs; all with PROCTOR_ADMIT=all. Programs that hang
// are left to the full gate, which has the time.
func TestQuixBugsAdmission(t *testing.T) {
	typ, b := newQuixBugs(t), quixbugsBank(t)
	all := os.Getenv("PROCTOR_ADMIT") == "all"
	for i := range b.Len(envs.SplitTest) {
		hangs := b.task(b.splits[envs.SplitTest][i]).Public["kind"] == "hang"
		if all || i%5 == 0 && !hangs {
			admit(t, typ, b, envs.SplitTest, i)
		}
	}
}

// Named checks take every right answer and nothing else, whatever its type.
func TestCheckers(t *testing.T) {
	i, s := pyval.IntOf, pyval.StrOf
	list := pyval.ListOf
	names := list(s("a"), s("b"), s("c"))
	edges := list(list(s("a"), s("c")))
	sorted := list(i(1), i(5), i(5), i(7))
	for _, c := range []struct {
		check string
		args  []pyval.Value
		want  pyval.Value
		got   pyval.Value
		right bool
	}{
		{"index-of", []pyval.Value{sorted, i(5)}, i(1), i(2), true},
		{"index-of", []pyval.Value{sorted, i(5)}, i(1), i(0), false},
		{"index-of", []pyval.Value{sorted, i(5)}, i(1), i(-2), false},
		{"index-of", []pyval.Value{sorted, i(5)}, i(1), i(99), false},
		{"index-of", []pyval.Value{sorted, i(6)}, i(-1), i(-1), true},
		{"index-of", []pyval.Value{sorted, i(6)}, i(-1), i(2), false},
		{"index-of", []pyval.Value{sorted, i(5)}, i(1), pyval.BoolOf(true), false},
		{"index-of", []pyval.Value{sorted, i(5)}, i(1), pyval.FloatOf(1), false},
		{"common-subsequence", []pyval.Value{s("abcd"), s("acbd")}, s("abd"), s("acd"), true},
		{"common-subsequence", []pyval.Value{s("abcd"), s("acbd")}, s("abd"), s("ab"), false},
		{"common-subsequence", []pyval.Value{s("abcd"), s("acbd")}, s("abd"), s("adb"), false},
		{"common-subsequence", []pyval.Value{s("abcd"), s("acbd")}, s("abd"), list(s("a"), s("b"), s("d")), false},
		{"topological-order", []pyval.Value{names, edges}, names, list(s("b"), s("a"), s("c")), true},
		{"topological-order", []pyval.Value{names, edges}, names, list(s("c"), s("a"), s("b")), false},
		{"topological-order", []pyval.Value{names, edges}, names, list(s("a"), s("a"), s("c")), false},
		{"topological-order", []pyval.Value{names, edges}, names, list(s("a"), s("x"), s("c")), false},
		{"topological-order", []pyval.Value{names, edges}, names, list(s("a"), s("c")), false},
		{"topological-order", []pyval.Value{names, edges}, names, s("abc"), false},
	} {
		if got := checkers[c.check](c.want)(c.args, c.got); got != c.right {
			t.Errorf("%s: %s for %s is %v", c.check, c.got, c.want, got)
		}
	}
}
