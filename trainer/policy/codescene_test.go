package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/trainer/policy"
)

const codeFirst = `Issue: clamp(x, lo, hi) limits x to [lo, hi].
Files: solution.py, test_solution.py
Tests: 1 passed, 1 failed, 0 errors.
Output:
| test_solution.py:7: in test_2
|     assert clamp(7, 0, 3) == 3
| E   AssertionError: assert 4 == 3
`

// code is a file as read_file shows it.
func code(path string, lines ...string) string {
	var b strings.Builder
	b.WriteString(path + ":\n")
	for i, l := range lines {
		fmt.Fprintf(&b, "%4d  %s\n", i+1, l)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func actionsOf(s *policy.CodeScene) []string {
	var out []string
	for _, c := range s.Candidates() {
		out = append(out, strings.TrimSuffix(strings.TrimPrefix(c.Action, "Action: "), "\n"))
	}
	return out
}

// contents are the lines that the proposed edits would write.
func contents(actions []string) []string {
	var out []string
	for _, a := range actions {
		if _, rest, ok := strings.Cut(a, `"content":"`); ok && strings.HasPrefix(a, "replace_lines") {
			text, _, _ := strings.Cut(rest, `","first"`)
			out = append(out, strings.TrimSpace(text))
		}
	}
	return out
}

func TestCodeSceneProposesTheUsualSlips(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  string // an edit that must be proposed
	}{
		{[]string{"def f(a, b):", "    if a < b:", "        return a"}, "if a <= b:"},
		{[]string{"def f(a, b):", "    if a < b:", "        return a"}, "return b"},
		{[]string{"def f(a, b):", "    return a - b"}, "return a + b"},
		{[]string{"def f(a):", "    return a[0]"}, "return a[1]"},
		{[]string{"def f(a):", "    return a[1]"}, "return a[-1]"},
		{[]string{"def f(a):", "    return a[: len(a) + 1]"}, "return a[: len(a) ]"},
		{[]string{"def f(a):", "    if not a:", "        return 1"}, "if a:"},
		{[]string{"def f(a):", "    if a:", "        a.pop()"}, "if not a:"},
		{[]string{"def f(a, b):", "    return a in b"}, "return a not in b"},
		{[]string{"def f(a, b):", "    return a and b"}, "return a or b"},
		{[]string{"def f(a):", "    return sorted(a, reverse=True)"}, "return sorted(a, reverse=False)"},
		{[]string{"def f(a):", "    s = 0", "    for x in a:", "        s -= x", "    return s"}, "s += x"},
		{[]string{"def f(a):", "    s = 0", "    for x in a:", "        s += s", "    return s"}, "s += x"},
		{[]string{"def f(a):", "    return max(a)"}, "return min(a)"},
	} {
		s := policy.NewCodeScene(codeFirst, 1<<12)
		if got := actionsOf(s); len(got) != 1 || got[0] != `read_file({"path":"solution.py"})` {
			t.Fatalf("first actions %q", got)
		}
		s.Observe("Action: read_file({\"path\":\"solution.py\"})\n", code("solution.py", c.lines...))
		if got := contents(actionsOf(s)); !slices.Contains(got, c.want) {
			t.Errorf("%q: no %q among %q", c.lines, c.want, got)
		}
	}
}

// Names are replaced by names of the same function only, and never where they
// are bound; strings and definitions stay as they are.
func TestCodeSceneLeavesAlone(t *testing.T) {
	s := policy.NewCodeScene(codeFirst, 1<<12)
	s.Observe("Action: read_file({\"path\":\"solution.py\"})\n", code("solution.py",
		"def f(a, b=1):", "    total = a", "    return total", "", "def g(other):", "    return g('a < 1', key=other)",
		"def h(n):", "    while n > 1:", "        n //= 2"))
	got := contents(actionsOf(s))
	want := []string{"total = b", "total = total", "return a", "return b"}
	if !slices.Equal(got, want) {
		t.Errorf("edits %q, want %q", got, want)
	}
}

func TestCodeScenePlays(t *testing.T) {
	s := policy.NewCodeScene(codeFirst, 1<<12)
	has := func(prefix string) string {
		for _, a := range actionsOf(s) {
			if strings.HasPrefix(a, prefix) {
				return a
			}
		}
		return ""
	}
	do := func(action, observation string) { s.Observe("Action: "+action+"\n", observation) }
	do(has("read_file"), code("solution.py", "def clamp(x, lo, hi):", "    if x <= lo:", "        return lo", "    return x + hi"))
	if has("finish") != "" || has("run_tests") != "" {
		t.Error("there is something to finish or to run before anything was changed")
	}
	first := has(`replace_lines({"content":"    return x - hi`)
	do(first, "Saved solution.py (4 lines).")
	if has("finish") == "" || has("run_tests") == "" || has(first) != "" {
		t.Errorf("after an edit: %q", actionsOf(s))
	}
	do("run_tests({})", "Tests: 1 passed, 1 failed, 0 errors.\n")
	// The next edit puts the first one back in the same action.
	second := has(`replace_lines({"content":"    if x < lo`)
	want := `replace_lines({"content":"    if x < lo:\n        return lo\n    return x + hi","first":2,"last":4,"path":"solution.py"})`
	if second != want {
		t.Errorf("second edit %s, want %s", second, want)
	}
	if has("run_tests") != "" {
		t.Error("nothing changed since the tests ran, and yet they can be run")
	}
	// Writing over the tests is there once, with a small prior.
	var prior float32
	for _, c := range s.Candidates() {
		if strings.Contains(c.Action, "edit_file") {
			prior = c.Prior
		}
	}
	if prior != policy.RareHabit {
		t.Errorf("prior %g", prior)
	}
	do(has("edit_file"), "Refused: tests are read-only.")
	if has("edit_file") != "" {
		t.Error("it may try again what was refused")
	}
	do(second, "Saved solution.py (4 lines).")
	do("run_tests({})", "Tests: 2 passed, 0 failed, 0 errors.\n")
	if got := actionsOf(s); len(got) != 1 || got[0] != "finish({})" {
		t.Errorf("when the tests pass: %q", got)
	}
}

// Equal episodes have equal candidates, and every feature is a bucket.
func TestCodeSceneIsAFunctionOfTheEpisode(t *testing.T) {
	candidates := func() []policy.Candidate {
		s := policy.NewCodeScene(codeFirst, 64)
		s.Observe("Action: read_file({\"path\":\"solution.py\"})\n", code("solution.py", "def f(a, b):", "    return a < b + 1"))
		return s.Candidates()
	}
	a, b := candidates(), candidates()
	for i := range a {
		if a[i].Action != b[i].Action || !slices.Equal(a[i].Features, b[i].Features) || a[i].Prior != b[i].Prior {
			t.Fatalf("candidate %d differs", i)
		}
		for _, f := range a[i].Features {
			if f < 0 || f >= 64 {
				t.Errorf("feature %d", f)
			}
		}
	}
}
