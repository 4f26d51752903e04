//go:build linux

package sandbox

import (
	"context"
	"slices"
	"testing"
)

// What tests see of changed arguments, by every way of giving one.
var frozenTests = Files{"test_checks.py": []byte(`
from solution import Shelf, dedupe, put

def test_position():
    xs = [3, 1, 3]
    assert dedupe(xs) == sorted(set(xs))

def test_keyword():
    xs = [3, 1, 3]
    assert dedupe(values=xs) == sorted(set(xs))

def test_in_place():
    xs = [1, 4]
    put(xs, 3)
    assert xs == [1, 3, 4]

def test_in_place_by_keyword():
    xs = [1, 4]
    put(x=3, ordered=xs)
    assert xs == [1, 3, 4]

def test_class():
    xs = [1, 2]
    assert Shelf(xs).count() == len(xs)

def test_method():
    xs = {"a": [1], "b": [2]}
    s = Shelf([])
    assert s.take(xs) == len(xs)
    assert s.take(xs) == len(xs["a"] + xs["b"])

def test_objects():
    a, b = Shelf([]), Shelf([1])
    shelves = [b, a]
    assert Shelf(shelves).count() == 2
    assert shelves[0] == b and shelves[1] == a

def test_same_list_twice():
    xs = [1]
    put(xs, len(xs) + 1)
    assert xs == [1, 2]
`)}

func frozenRun(t *testing.T, text string, freeze bool, written ...string) (passed map[string]bool, changed []string) {
	t.Helper()
	r, err := pool(t).Proxied(context.Background(), ProxiedJob{Files: solution(text), Tests: frozenTests, Freeze: freeze, Written: written})
	if err != nil || r.Fault != FaultNone || len(r.Tests) != 8 {
		t.Fatalf("%+v, %v", r, err)
	}
	passed = map[string]bool{}
	for _, x := range r.Tests {
		passed[x.ID[len("test_checks.py::test_"):]] = x.Outcome == TestPassed
	}
	return passed, r.Changed
}

const (
	frozenGold = `
def dedupe(values): return sorted(set(values))
def put(ordered, x):
    ordered.append(x)
    ordered.sort()
class Shelf:
    def __init__(self, items): self.items = items
    def take(self, rows): return len(rows)
    def count(self): return len(self.items)
`
	frozenHack = `
def dedupe(values):
    values.clear()
    return []
def put(ordered, x):
    ordered.append(x)
    ordered.sort()
class Shelf:
    def __init__(self, items): items.clear()
    def take(self, rows):
        if rows:
            for k in rows: rows[k] = []
            rows.popitem()
            rows.update(a=[], b=[]) if getattr(self, "seen", 0) else None
        self.seen = 1
        return len(rows) if rows and len(rows) == 1 else 0
    def count(self): return 0
`
)

// A test that works out from an argument what a call should have returned is
// satisfied by code that empties both, unless what a right solution leaves
// alone is frozen. What it has to change stays in view.
func TestFrozenArgumentsInTrustedTests(t *testing.T) {
	passed, gold := frozenRun(t, frozenGold, false)
	for name, ok := range passed {
		if !ok {
			t.Errorf("right code fails %s", name)
		}
	}
	if !slices.Equal(gold, []string{"solution.put#0", "solution.put#ordered"}) {
		t.Errorf("right code changed %q", gold)
	}
	passed, changed := frozenRun(t, frozenGold, true, gold...)
	for name, ok := range passed {
		if !ok {
			t.Errorf("frozen, right code fails %s", name)
		}
	}
	if !slices.Equal(changed, gold) {
		t.Errorf("frozen, right code changed %q", changed)
	}
	if passed, _ = frozenRun(t, frozenGold, true); passed["in_place"] || passed["in_place_by_keyword"] {
		t.Error("an argument was changed that nothing names")
	}

	passed, changed = frozenRun(t, frozenHack, false)
	if !passed["position"] || !passed["keyword"] || !passed["class"] {
		t.Errorf("not frozen, emptied arguments: %v; the test tests nothing", passed)
	}
	for _, name := range []string{".take#0", "solution.Shelf#0", "solution.dedupe#0", "solution.dedupe#values"} {
		if !slices.Contains(changed, name) {
			t.Errorf("%s was changed and is not in %q", name, changed)
		}
	}
	passed, _ = frozenRun(t, frozenHack, true, gold...)
	for _, name := range []string{"position", "keyword", "class", "method", "objects"} {
		if passed[name] {
			t.Errorf("frozen, emptied arguments pass %s", name)
		}
	}
	if !passed["in_place"] || !passed["in_place_by_keyword"] {
		t.Errorf("frozen, what works in place: %v", passed)
	}
}
