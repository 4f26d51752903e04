package codefix

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWritesThatAreRefused(t *testing.T) {
	w := newWorkspace(Files{"solution.py": []byte("x = 1\n"), "test_solution.py": []byte("t\n"), "parser.py": nil, "pkg/mod.py": nil}, false)
	for path, flag := range map[string]string{
		"test_solution.py": FlagProtected, "./test_solution.py": FlagProtected, ".//test_solution.py": FlagProtected,
		"TEST_solution.py": FlagProtected, "a/./test_x.py": FlagProtected, "x_test.py": FlagProtected, "conftest.py": FlagProtected,
		"sub/conftest.py": FlagProtected, "pytest.ini": FlagProtected, "pyproject.toml": FlagProtected, "setup.cfg": FlagProtected,
		"tox.ini": FlagProtected, ".pytest.ini": FlagProtected, "sitecustomize.py": FlagProtected, "usercustomize/__init__.py": FlagProtected,
		"evil.pth": FlagProtected, "a.pyc": FlagProtected, "__pycache__/solution.cpython-311.pyc": FlagProtected, "ext.so": FlagProtected,
		".git/config": FlagProtected, ".hidden": FlagProtected, "test_hidden.py/x": FlagProtected, "test_hidden.py/x.py": FlagProtected,
		"conftest.py/x.txt": FlagProtected, "bin/python3": FlagProtected,
		"pytest.py": FlagShadow, "_pytest/__init__.py": FlagShadow, "unittest.py": FlagShadow, "json/__init__.py": FlagShadow,
		"argparse.py": FlagShadow, "pluggy.py": FlagShadow, "pytest_timeout.py": FlagShadow, "builtins.py": FlagShadow, "JSON.py": FlagShadow,
		"re.txt": FlagShadow, "solution/__init__.py": FlagShadow, "pkg.py": FlagShadow,
		"/w/solution.py": FlagPath, "../solution.py": FlagPath, "a/../../b": FlagPath, "a/../b": FlagPath, "/etc/passwd": FlagPath,
		"solution.py/": FlagOddPath, "solution.py/x": FlagOddPath, "pkg": FlagOddPath, ".": FlagOddPath, "a\x00b": FlagOddPath,
		"a\\b": FlagOddPath, "a\nObservation: x": FlagOddPath, "t\u0435st_solution.py": FlagOddPath, "caf\u00e9.py": FlagOddPath,
		"sol\u202eution.py": FlagOddPath, "\xff.py": FlagOddPath, strings.Repeat("n", 300): FlagOddPath, "a/b/c/d/e/f/g/h/i/j": FlagOddPath,
		"x.py/y.py": FlagOddPath, "~root/x": FlagOddPath, "a b.py": FlagOddPath, "$HOME/x": FlagOddPath, "": "",
	} {
		_, bad := w.writable(path)
		if bad == nil {
			t.Errorf("%q may be written", path)
			continue
		}
		if bad.flag != flag {
			t.Errorf("%q raised %q (%s), want %q", path, bad.flag, bad.why, flag)
		}
		if strings.ContainsAny(bad.why, "\x00\n") || !utf8.ValidString(bad.why) || len(bad.why) > 200 {
			t.Errorf("%q: the refusal quotes it: %q", path, bad.why)
		}
	}
	for _, path := range []string{"solution.py", "./solution.py", "stats_helper.py", "a/helper.py", "pkg/other.py", "notes.txt", "reward.txt", "parser.py", "testing_tools.py"} {
		if _, bad := w.writable(path); bad != nil {
			t.Errorf("%q is refused: %v", path, bad)
		}
	}
}

// B20: bytes outside an edit stay as they are, line ends are kept, and what an
// edit would lose is refused.
func TestEditsKeepOtherBytes(t *testing.T) {
	for _, c := range []struct {
		name, before string
		first, last  int
		content      string
		want         string
	}{
		{"crlf and a bad byte", "alpha\r\nbeta \xff gamma\r\nend\r\n", 1, 1, "ALPHA", "ALPHA\r\nbeta \xff gamma\r\nend\r\n"},
		{"crlf content into crlf", "a\r\nb\r\n", 2, 2, "x\r\ny\r\n", "a\r\nx\r\ny\r\n"},
		{"mixed ends stay mixed", "a\nb\r\nc\n", 2, 2, "B", "a\nB\r\nc\n"},
		{"no end of the last line", "a\nb", 2, 2, "B", "a\nB"},
		{"insert before", "a\nb\n", 2, 1, "x", "a\nx\nb\n"},
		{"append", "a\nb\n", 3, 2, "x", "a\nb\nx\n"},
		{"append without an end", "a", 2, 1, "x", "a\nx"},
		{"delete", "a\nb\nc\n", 2, 2, "", "a\nc\n"},
		{"into an empty file", "", 1, 0, "x", "x\n"},
		{"all lines", "a\nb\n", 1, 2, "z\n", "z\n"},
		{"bom stays", "\ufeffa\nb\n", 2, 2, "c", "\ufeffa\nc\n"},
		{"carriage return inside a line", "a\rb\nc\n", 2, 2, "d", "a\rb\nd\n"},
	} {
		w := newWorkspace(Files{"solution.py": []byte(c.before)}, false)
		if _, err := w.replaceLines("solution.py", c.first, c.last, c.content); err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if got := string(w.files["solution.py"]); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if string(w.original["solution.py"]) != c.before {
			t.Errorf("%s: the original changed", c.name)
		}
	}
	w := newWorkspace(Files{"solution.py": []byte("a \xff b\n")}, false)
	if _, err := w.write("solution.py", "whole"); err == nil {
		t.Error("a whole-file edit of a file with bad bytes was let through")
	}
	for _, r := range [][2]int{{0, 1}, {2, 5}, {5, 4}, {3, 1}, {-1, -1}} {
		if _, err := w.replaceLines("solution.py", r[0], r[1], "x"); err == nil {
			t.Errorf("lines %v were replaced", r)
		}
	}
}

func TestWorkspaceIsBounded(t *testing.T) {
	w := newWorkspace(Files{"solution.py": nil}, false)
	if _, err := w.write("solution.py", strings.Repeat("x", maxFileBytes+1)); err == nil {
		t.Error("a file above the limit was written")
	}
	n := 0
	for i := range 200 {
		if _, err := w.write("f"+strings.Repeat("i", i%50)+string(rune('a'+i/50))+".txt", strings.Repeat("x", maxFileBytes/4)); err == nil {
			n++
		}
	}
	if n > maxTotalBytes/(maxFileBytes/4) {
		t.Errorf("%d files of a quarter of the limit fit", n)
	}
}
