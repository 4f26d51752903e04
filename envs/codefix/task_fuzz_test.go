package codefix

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzTask: whatever a task file holds, it is refused with a reason or gives a
// task that can be served: plain paths and values that decode.
func FuzzTask(f *testing.F) {
	for _, s := range []string{
		`{"id": "c", "prompt": "p", "files": {"solution.py": "def f(x):\n    return 1\n"}, "hidden_cases": [{"fn": "f", "args": [1], "want": 1}]}`,
		`{"id": "c", "prompt": "p", "files": {"solution.py": ""}, "hidden_cases": [{"fn": "a.b", "args": [{"tuple": [1]}], "want": {"float": "nan"}, "tagged": true, "compare": {"kind": "approx", "rel": 0.1}}]}`,
		`{"id": "c", "prompt": "p", "files": {"solution.py": "", "../x": ""}, "hidden_test": "def test_a(): pass"}`,
		`{"id": "c", "prompt": "p", "files": {"solution.py": ""}, "hidden_cases": [{"fn": "f", "kwargs": {"a": 1e400}, "raises": "ValueError"}]}`,
		`{}`, `[[[[`, "\xff",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		task, err := ParseTask(data)
		if err != nil {
			if !utf8.ValidString(err.Error()) || err.Error() == "" {
				t.Errorf("the reason %q is not fit to be shown", err)
			}
			return
		}
		if !taskID.MatchString(task.ID) || strings.TrimSpace(task.Prompt) == "" {
			t.Errorf("accepted %+v", task)
		}
		for p := range task.Source {
			if strings.HasPrefix(p, "/") || strings.Contains("/"+p+"/", "/../") || bytes.ContainsAny([]byte(p), "\x00\n\\") {
				t.Errorf("accepted the path %q", p)
			}
		}
		for i := range task.HiddenCases {
			if err := task.HiddenCases[i].check(); err != nil {
				t.Errorf("case %d was accepted and is not: %v", i, err)
			}
		}
	})
}
