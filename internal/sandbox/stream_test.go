package sandbox

import (
	"context"
	"testing"
)

// What is no plain value can be gone through by trusted tests, lazily and once
// where it is an iterator; an inert object is the same to every line of a test.
func TestStreams(t *testing.T) {
	p := pool(t)
	tests := Files{"test_checks.py": []byte(`
from itertools import islice
from solution import Log, Shelf, evens, pairs, ranks
import pytest

def test_list():
    assert list(evens([1, 2, 4])) == [2, 4] and sum(evens([2, 4])) == 6 and 4 in evens([1, 4])
    assert [*evens(range_list(300))] == range_list(300)[::2]

def range_list(n):
    return [x for x in range(n)]

def test_dict():
    assert dict(pairs(["a", "b"])) == {"a": 0, "b": 1}

def test_once():
    r = ranks([3, 1])
    assert sorted(r) == [1, 3] and len(list(r)) == 2 and len(r) == 2

def test_error():
    seen = []
    with pytest.raises(ValueError, match="no number"):
        for x in evens([2, "x"]):
            seen.append(x)
    assert seen == [2]

def test_methods():
    s = Shelf().put(4).put(5)
    assert sorted(s.labels()) == [4, 5] and [*s.put(6)] == [4, 5, 6]
    log = Log()
    assert list(log.note(1)) == [1] and list(log.note(2)) == [1, 2] and 1 in log

def test_next():
    it = iter(evens([2, 4]))
    assert next(it) == 2 and next(it) == 4 and next(it, None) is None

def test_endless():
    assert list(islice(Shelf().forever(), 3)) == [0, 1, 2]
`)}
	for name, c := range map[string]struct {
		text string
		fail map[string]bool
	}{
		"generators": {text: `
def evens(xs):
    for x in xs:
        if not isinstance(x, int):
            raise ValueError("no number")
        if x % 2 == 0:
            yield x

def pairs(names):
    return zip(names, range(len(names)))

def ranks(xs):
    return dict.fromkeys(xs).keys()

class Log(list):
    def note(self, x):
        self.append(x)
        return self

class Shelf:
    def __init__(self, have=()): self.have = list(have)
    def put(self, x): return Shelf([*self.have, x])
    def __iter__(self): return iter(self.have)
    def labels(self): return map(int, self.have)
    def forever(self):
        n = 0
        while True:
            yield n
            n += 1
`},
		"another thing at every look": {text: `
class Pleaser:
    def __init__(self, looks): self.looks = looks
    def __iter__(self): return iter(self.looks.pop(0) if self.looks else [])
    def __len__(self): return 2
    def __contains__(self, x): return True
    def __eq__(self, x): return True
    def __next__(self): return self

def evens(xs): return Pleaser([[], [2], [2, 4]])
def pairs(names): return Pleaser([[("a", 0)], [("b", 1)]])
def ranks(xs): return Pleaser([[1, 3], [1], [1, 3, 4]])

class Log(list):
    def note(self, x): return self

class Shelf:
    def put(self, x): return self
    def __iter__(self): return iter([4, 5, 6])
    def labels(self): return [5]
    def forever(self): return Pleaser([[0], [1], [2]])
`, fail: map[string]bool{"test_list": true, "test_dict": true, "test_error": true, "test_methods": true, "test_next": true, "test_endless": true}},
	} {
		r, err := p.Proxied(context.Background(), ProxiedJob{
			Files: solution(c.text), Tests: tests, Functions: []string{"solution.evens", "solution.pairs", "solution.ranks"},
		})
		if err != nil || r.Fault != FaultNone || len(r.Tests) != 7 {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		for _, x := range r.Tests {
			if failed := x.Outcome != TestPassed; failed != c.fail[x.ID[len("test_checks.py::"):]] {
				t.Errorf("%s: %s %s: %s", name, x.ID, x.Outcome, x.Message)
			}
		}
	}
}

// What the interpreter has by a name is not the agent's to stand in for, unless
// the task came with a module of that name.
func TestLibraryIsNotProxied(t *testing.T) {
	p := pool(t)
	tests := Files{"test_checks.py": []byte(`
import time
import calendar
import helpers
from solution import parts

def test_parts():
    assert parts("2024-03-05") == time.strptime("2024-03-05", "%Y-%m-%d")[:3]

def test_helpers():
    assert helpers.two() == 2 and calendar.three() == 3
`)}
	files := solution("def parts(text): return (0, 0, 0)\n")
	files["_strptime.py"] = []byte("def _strptime_time(text, form=None): return (0, 0, 0)\n")
	files["helpers.py"] = []byte("def two(): return 2\n")
	files["calendar.py"] = []byte("def three(): return 3\n")
	r, err := p.Proxied(context.Background(), ProxiedJob{Files: files, Tests: tests, Original: Files{"solution.py": nil, "calendar.py": nil}})
	if err != nil || len(r.Tests) != 2 || r.Tests[0].Outcome != TestFailed || r.Tests[1].Outcome != TestPassed {
		t.Errorf("%+v, %v", r, err)
	}
}
