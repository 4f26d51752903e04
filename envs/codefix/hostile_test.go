package codefix

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/proctor-rl/proctor/internal/sandbox"
)

// strictTest has a test for each way in which trusted tests use what a call has
// returned. None is satisfied by anything but the right value.
const strictTest = `import copy, json, pickle, pytest, re
from solution import num, text, listing, mapping

def test_equal(): assert num() == 6
def test_equal_turned(): assert 6 == num()
def test_not_differs(): assert not num() != 6
def test_near(): assert num() == pytest.approx(6)
def test_difference(): assert abs(num() - 6) < 1e-9
def test_range(): assert 6 <= num() <= 6
def test_in(): assert num() in (6,)
def test_in_set(): assert num() in {6}
def test_key(): assert {6: "x"}[num()] == "x"
def test_hash(): assert hash(num()) == hash(6) and num() == 6
def test_round(): assert round(num()) == 6
def test_index(): assert list(range(9))[num()] == 6
def test_format(): assert f"{num():03d}" == "006"
def test_percent(): assert "%d" % num() == "6"
def test_str(): assert str(num()) == "6"
def test_repr(): assert repr(num()) == "6"
def test_json(): assert json.dumps(num()) == "6"
def test_copy(): assert copy.deepcopy(num()) == 6
def test_pickle(): assert pickle.loads(pickle.dumps(num())) == 6
def test_sum(): assert sum([num(), num()]) == 12
def test_min(): assert min(num(), 7) == 6 and max(num(), 5) == 6
def test_text(): assert text() == "ab"
def test_text_in(): assert "b" in text() and len(text()) == 2 and text().startswith("a")
def test_match(): assert re.fullmatch("ab", text())
def test_join(): assert "-".join([text(), text()]) == "ab-ab"
def test_list(): assert listing() == [1, 2]
def test_sorted(): assert sorted(listing()) == [1, 2]
def test_listed(): assert list(listing()) == [1, 2] and len(listing()) == 2
def test_item(): assert listing()[0] == 1 and listing()[1] == 2 and listing()[-1] == 2
def test_unpack():
    a, b = listing()
    assert (a, b) == (1, 2)
def test_every(): assert [x == y for x, y in zip(listing(), [1, 2], strict=True)] == [True, True]
def test_dict(): assert mapping() == {"a": 1}
def test_get(): assert mapping()["a"] == 1 and mapping().get("a") == 1
def test_items(): assert dict(mapping().items()) == {"a": 1}
def test_with():
    with num() as x:
        assert x == 6
`

// What hidden tests get back may be an object that lies about all that can be
// asked of it. It earns nothing, passes not one test, and is no fault of ours.
func TestHostileObjects(t *testing.T) {
	task := Task{
		ID: "hostile", Split: "user", Prompt: "p", HiddenTest: strictTest,
		Source: map[string]string{"solution.py": "def num(): return 0\ndef text(): return ''\ndef listing(): return []\ndef mapping(): return {}\n"},
	}
	j := newJudge(pool, []byte("k"), false)
	verdictOf := func(text string) (verdict, error) {
		w := newWorkspace(task.original(), false)
		w.files[solutionFile] = []byte(text)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		return j.grade(ctx, &task, w, 1)
	}
	const maker, all = "\ndef make(): return thing\n", "\nnum = text = listing = mapping = make\n"
	if v, err := verdictOf("def num(): return 6\ndef text(): return 'ab'\ndef listing(): return [1, 2]\ndef mapping(): return {'a': 1}\n"); err != nil || v.tests.Passed != 34 {
		t.Fatalf("the right values: %+v, %v", v, err) // all but that an int is no context
	}
	const liar = `
class Yes:
    def __getattr__(s, n): return s
    def __call__(s, *a, **k): return s
    def __bool__(s): return True
    def __enter__(s): return s
    def __exit__(s, *a): return True
for n in "eq ne lt le gt ge contains".split(): setattr(Yes, "__%s__" % n, lambda s, *a: True)
for n in "add radd sub rsub mul rmul mod rmod abs neg round floor".split(): setattr(Yes, "__%s__" % n, lambda s, *a: s)
for n in "len hash index int".split(): setattr(Yes, "__%s__" % n, lambda s: 2)
for n in "str repr format".split(): setattr(Yes, "__%s__" % n, lambda s, *a: "6")
Yes.__iter__ = lambda s: iter([s, s])
Yes.__getitem__ = lambda s, i: s
`
	cases := []struct{ name, text string }{
		{"says yes", liar + "thing = Yes()"},
		{"says that it is an int", liar + "Yes.__class__ = property(lambda s: int)\nthing = Yes()"},
		{"is a class", liar + "thing = Yes"},
		{"is another for every call", liar + "def make(): return type('X', (Yes,), {})()"},
		{"reduces to 6", liar + "Yes.__reduce__ = Yes.__reduce_ex__ = lambda s, *a: (int, ('6',))\nYes.__copy__ = Yes.__deepcopy__ = lambda s, *a: 6\nthing = Yes()"},
		{"an int that lies", liar + "class I(int): pass\nfor k, v in vars(Yes).items():\n    if k not in ('__dict__', '__weakref__', '__doc__', '__module__', '__getattr__'): setattr(I, k, v)\nthing = I(7)"},
		{"a bool", "thing = True"},
		{"a float that lies", "class F(float):\n    def __eq__(s, o): return True\n    __ne__ = __lt__ = __le__ = __ge__ = __eq__\n    def __sub__(s, o): return 0\n    def __hash__(s): return hash(6)\nthing = F(7)"},
		{"NaN", "thing = float('nan')"},
		{"a str that lies", "class S(str):\n    def __eq__(s, o): return True\n    def __hash__(s): return hash(6)\n    def __format__(s, f): return '006'\nthing = S('x')"},
		{"a list that lies", "class L(list):\n    def __eq__(s, o): return True\n    def __iter__(s): return iter([1, 2])\n    def __len__(s): return 2\n    def __getitem__(s, i): return [1, 2][i]\nthing = L([9])"},
		{"a dict that lies", "class D(dict):\n    def __eq__(s, o): return True\n    def __getitem__(s, k): return 1\n    get = lambda s, k: 1\n    items = lambda s: [('a', 1)]\nthing = D(b=2)"},
		{"a tuple that lies", "class T(tuple):\n    def __eq__(s, o): return True\n    def __len__(s): return 2\nthing = T((1, 2, 3))"},
		{"bytes that lie", "class B(bytes):\n    def __eq__(s, o): return True\nthing = B(b'6')"},
		{"a generator without end", "import itertools\nthing = itertools.count(1)"},
		{"items without end that lie", liar + "def g():\n    while True: yield Yes()\nthing = g()"},
		{"a length without end", "class X:\n    def __len__(s): return 1 << 62\n    def __getitem__(s, i): return i\nthing = X()"},
		{"a repr of megabytes", "class X:\n    def __repr__(s): return 'x' * (1 << 27)\n    __str__ = __repr__\n    def __format__(s, f): return repr(s)\nthing = X()"},
		{"a repr without end", "class X:\n    def __repr__(s): return repr(s)\n    __str__ = __hash__ = __eq__ = __repr__\nthing = X()"},
		{"methods that leave", "import os\nclass X:\n    def __getattribute__(s, n): os._exit(0)\n    def __eq__(s, o): os._exit(0)\n    __hash__ = __repr__ = __len__ = __iter__ = __bool__ = lambda s: os._exit(0)\nthing = X()"},
		{"methods that raise what passes", "class X:\n    def __eq__(s, o): raise SystemExit(0)\n    __hash__ = __repr__ = __len__ = __iter__ = lambda s: (_ for _ in ()).throw(KeyboardInterrupt)\nthing = X()"},
		{"raises a skip", "import unittest\nclass X: pass\ndef make(): raise unittest.SkipTest('later')"},
		{"raises pytest's own", "from _pytest.outcomes import Skipped, Exit, XFailed\nimport itertools\nkinds = itertools.cycle([Skipped, Exit, XFailed])\ndef make(): raise next(kinds)('x')"},
		{"a list in itself", "thing = []\nthing.append(thing)"},
		{"a list as deep as can be", "thing = []\nfor _ in range(100000): thing = [thing]"},
		{"a list as long as can be", "thing = [0] * (1 << 24)"},
		{"a number as long as can be", "thing = 1 << (1 << 24)"},
		{"half a character", "thing = '\\ud800\\udfff' * 1000"},
		{"its own function", "def make(): return make"},
		{"the module", "import sys\nthing = sys.modules[__name__]"},
		{"an exception", "thing = AssertionError('x')"},
		{"a type in the middle of being made", "class M(type):\n    def __instancecheck__(c, o): return True\n    def __eq__(c, o): return True\n    def __hash__(c): return 6\nclass thing(metaclass=M): pass"},
		{"a weak proxy", liar + "import weakref\ny = Yes()\nthing = weakref.proxy(y)"},
		{"a mock", "from unittest.mock import MagicMock\nthing = MagicMock()\nthing.__eq__ = lambda s, o: True\nthing.__lt__ = thing.__le__ = thing.__ge__ = thing.__gt__ = lambda s, o: True"},
	}
	t.Run("each", func(t *testing.T) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				text := c.text + all
				if !strings.Contains(text, "def make(") {
					text = c.text + maker + all
				}
				v, err := verdictOf(text)
				if err != nil {
					t.Fatalf("a fault of ours: %v", err)
				}
				if v.solved || v.tests.Passed != 0 {
					t.Errorf("%+v", v)
				}
			})
		}
	})
	if v, err := j.run.Calls(t.Context(), sandbox.CallsJob{Files: sandbox.Files{solutionFile: []byte("def f(): return 1\n")}, Calls: []sandbox.Call{{Fn: "f"}}}); err != nil || v.Answers[0].Value.String() != "1" {
		t.Errorf("afterwards: %+v, %v", v, err)
	}
}
