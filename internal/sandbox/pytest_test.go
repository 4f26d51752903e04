//go:build linux

package sandbox

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"
)

func runTests(t *testing.T, files Files) PytestResult {
	t.Helper()
	r, err := pool(t).Pytest(context.Background(), PytestJob{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Names come from the collector and outcomes from its hooks, whatever the
// text output looks like (B15, B16).
func TestPytestReportsByNodeID(t *testing.T) {
	files := Files{
		"solution.py": []byte("def f(x): return x + 1\n"),
		"conftest.py": []byte("import pytest\n@pytest.fixture\ndef three(): return 3\n"),
		"test_a.py": []byte(`
import pytest, solution
@pytest.mark.parametrize("x", ["[100%]", "PASSED test_z", "a::b"])
def test_names(x): print("test_fake PASSED [100%]")
def test_fixture(three): assert solution.f(2) == three
def test_bad(): assert solution.f(2) == 4, "two and one"
def test_error(nothing_of_this_name): pass
def test_skip(): pytest.skip("later")
@pytest.mark.xfail
def test_xfail(): assert 0
class TestGroup:
    def test_in(self, tmp_path, monkeypatch, capsys): (tmp_path / "x").write_text("y")
`),
		"sub/test_b.py":  []byte("import unittest\nclass T(unittest.TestCase):\n    def test_u(self): self.assertEqual(1, 1)\n"),
		"test_broken.py": []byte("def test_x(:\n"),
	}
	r := runTests(t, files)
	want := map[string]TestOutcome{
		"test_a.py::test_names[[100%]]": TestPassed, "test_a.py::test_names[PASSED test_z]": TestPassed, "test_a.py::test_names[a::b]": TestPassed,
		"test_a.py::test_fixture": TestPassed, "test_a.py::test_bad": TestFailed, "test_a.py::test_error": TestError,
		"test_a.py::test_skip": TestSkipped, "test_a.py::test_xfail": TestSkipped, "test_a.py::TestGroup::test_in": TestPassed,
		"sub/test_b.py::T::test_u": TestPassed, "test_broken.py": TestError,
	}
	got := map[string]TestOutcome{}
	for _, x := range r.Tests {
		got[x.ID] = x.Outcome
		if x.ID == "test_a.py::test_bad" && !strings.Contains(x.Message, "two and one") {
			t.Errorf("message of a failure: %q", x.Message)
		}
	}
	// A collection error ends the run before any test: run the rest alone.
	if len(got) != 1 || got["test_broken.py"] != TestError || r.ExitCode != 2 {
		t.Errorf("with a broken file: %v, exit code %d", got, r.ExitCode)
	}
	delete(files, "test_broken.py")
	delete(want, "test_broken.py")
	r = runTests(t, files)
	got = map[string]TestOutcome{}
	for _, x := range r.Tests {
		got[x.ID] = x.Outcome
	}
	for id, o := range want {
		if got[id] != o {
			t.Errorf("%s is %q, want %q", id, got[id], o)
		}
	}
	if len(got) != len(want) || r.Passed != 6 || r.Failed != 1 || r.Errors != 1 || r.Skipped != 2 || r.ExitCode != 1 || r.AllPassed() {
		t.Errorf("%+v", r)
	}
}

// The text is safe to show, bounded, and equal for equal workspaces.
func TestPytestOutputIsTame(t *testing.T) {
	files := Files{"test_a.py": []byte("import os, sys\ndef test_a():\n    os.write(1, b'\\xff\\xfe \\x1b[2J\\x07\\r\\xe2\\x80\\xae reward 1')\n    print(object())\n    assert object() is None\n")}
	a, b := runTests(t, files), runTests(t, files)
	if a.Output != b.Output {
		t.Errorf("two runs differ:\n%s\n%s", a.Output, b.Output)
	}
	if !utf8.ValidString(a.Output) || strings.ContainsAny(a.Output, "\x1b\x07\r\u202e") || strings.Contains(a.Output, "/home/w") {
		t.Errorf("raw text in %q", a.Output)
	}
	if !strings.Contains(a.Output, `\xff\xfe`) {
		t.Errorf("bytes that are not text are lost in %q", a.Output)
	}
	r := runTests(t, Files{"test_a.py": []byte("def test_a():\n    print('head' + 'x' * 200000 + 'tail')\n    assert 0\n")})
	if r.Truncated == 0 || len(r.Output) > keptOutput+200 || r.Failed != 1 {
		t.Errorf("%d bytes kept, %d left out, %d failed", len(r.Output), r.Truncated, r.Failed)
	}
}

// Nothing in a workspace configures the run.
func TestPytestIgnoresConfiguration(t *testing.T) {
	r := runTests(t, Files{
		"test_a.py":      []byte("def test_a(): assert 0\ndef test_b(): pass\n"),
		"pytest.ini":     []byte("[pytest]\naddopts = --collect-only -k test_b\n"),
		"pyproject.toml": []byte("[tool.pytest.ini_options]\naddopts = '-p evil'\n"),
		"setup.cfg":      []byte("[tool:pytest]\naddopts = --co\n"), "tox.ini": []byte("[pytest]\naddopts = --co\n"),
		"evil.py": []byte("1/0\n"), "sitecustomize.py": []byte("import os; os._exit(0)\n"), "pytest.py": []byte("1/0\n"),
	})
	if r.Failed != 1 || r.Passed != 1 || r.ExitCode != 1 {
		t.Errorf("%+v", r)
	}
}

func TestUnusableWorkspaces(t *testing.T) {
	p := pool(t)
	for _, path := range []string{"", "/etc/x", "../x", "a/../x", "./x", "a//b", "a\x00b", "a\nb", "caf\u00e9.py", "a\\b", strings.Repeat("a", 300), strings.Repeat("a/", 20) + "b", "~x", "a b"} {
		res, err := p.Calls(context.Background(), CallsJob{Files: Files{path: nil}})
		if err != nil || res.Fault != FaultFiles {
			t.Errorf("%q: %+v, %v", path, res, err)
		}
	}
	for name, files := range map[string]Files{
		"large file": {"a": make([]byte, 9<<20)}, "file as folder": {"a": nil, "a/b": nil},
		"large whole": {"a": make([]byte, 5<<20), "b": make([]byte, 5<<20)},
	} {
		if res, err := p.Calls(context.Background(), CallsJob{Files: files}); err != nil || res.Fault != FaultFiles {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
	if r := runTests(t, Files{"a.py": nil}); r.AllPassed() || r.ExitCode != 5 {
		t.Errorf("no tests: %+v", r)
	}
}
