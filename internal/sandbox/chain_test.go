//go:build linux

package sandbox

import (
	"context"
	"testing"
)

// An object that a method hands back, itself or another that is under test,
// may be used on, and has no say in what a test compares it with.
func TestHandedBackObjectsDoNotJudge(t *testing.T) {
	p := pool(t)
	tests := Files{"test_checks.py": []byte(`
from solution import Meter

def test_at_least():
    assert Meter().add(4).total() >= 4

def test_at_most():
    assert Meter().add(4).total() <= 4

def test_near():
    assert abs(Meter().add(4).total() - 4) < 1e-9

def test_holds():
    assert 4 in Meter().add(4).values()

def test_equal():
    m = Meter().add(4)
    assert m.copy() != Meter()
    assert not m.copy() == m.add(1).total()

def test_chain():
    m = Meter()
    assert m.add(1) == m and len(m.add(2)) == 2 and [x for x in m.values()] == [1, 2]

def test_order():
    a, b = Meter(), Meter()
    a.add(1)
    assert b < a and not a < b
`)}
	run := func(text string) map[string]TestOutcome {
		r, err := p.Proxied(context.Background(), ProxiedJob{Files: solution(text), Tests: tests})
		if err != nil || r.Fault != FaultNone {
			t.Fatalf("%+v, %v", r, err)
		}
		out := map[string]TestOutcome{}
		for _, x := range r.Tests {
			out[x.ID[len("test_checks.py::"):]] = x.Outcome
		}
		return out
	}
	for name, o := range run(`
class Meter:
    def add(self, *a): return self
    total = values = copy = add
    def __ge__(self, o): return True
    __le__ = __lt__ = __gt__ = __contains__ = __eq__ = __ge__
    def __sub__(self, o): return 0.0
    def __len__(self): return 2
    def __iter__(self): return iter([1, 2])
`) {
		if o == TestPassed && name != "test_chain" && name != "test_equal" {
			t.Errorf("%s: an object that agrees with everything passed", name)
		}
	}
	for name, o := range run(`
class Meter:
    def __init__(self): self.seen = []
    def add(self, x):
        self.seen.append(x)
        return self
    def total(self): return sum(self.seen)
    def values(self): return list(self.seen)
    def copy(self): return Meter()
    def __len__(self): return len(self.seen)
    def __lt__(self, o): return self.total() < o.total()
`) {
		if o != TestPassed {
			t.Errorf("%s: right code %s", name, o)
		}
	}
}

// A class below a built-in one makes objects, which have its methods, and a
// value that is compared on the tests' side, whatever its operators say.
func TestClassesBelowBuiltins(t *testing.T) {
	p := pool(t)
	tests := Files{"test_checks.py": []byte(`
from solution import Bag

def test_methods():
    b = Bag()
    assert b.put(4).put(5).total() == 9 and len(b) == 2 and 5 in b

def test_value():
    b = Bag()
    b.put(4)
    assert b == [4] and b != [5] and b[0] == 4 and list(b) == [4]
`)}
	for _, c := range []struct {
		text   string
		passed int
	}{
		{"class Bag(list):\n    def put(self, x):\n        self.append(x)\n        return self\n    def total(self): return sum(self)\n", 2},
		{"class Bag(list):\n    def put(self, x): return self\n    def total(self): return 9\n    def __len__(self): return 2\n    def __contains__(self, x): return True\n    def __eq__(self, o): return True\n    def __ne__(self, o): return True\n    def __getitem__(self, i): return 4\n    def __iter__(self): return iter([4])\n", 1},
	} {
		r, err := p.Proxied(context.Background(), ProxiedJob{Files: solution(c.text), Tests: tests})
		if err != nil || r.Passed != c.passed || r.Passed+r.Failed != 2 {
			t.Errorf("%+v, %v: want %d passed", r, err, c.passed)
		}
	}
}
