package codefix

import (
	"strings"
	"testing"
)

// A task file that could be read in two ways is refused, and says which field.
func TestTaskFieldsAreExact(t *testing.T) {
	const good = `{"id": "c", "prompt": "p", "files": {"solution.py": "x = 1\n", "Data.txt": "a", "data.txt": "b"},
 "hidden_cases": [{"fn": "f", "args": [{"A": 1, "a": 2}], "want": 1, "compare": {"kind": "approx", "rel": 0.1}}]}`
	if _, err := ParseTask([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ from, to, names string }{
		{`"hidden_cases":`, `"hidden_cases": [{"fn": "g", "args": [], "want": 2}], "hidden_cases":`, "hidden_cases"},
		{`"hidden_cases":`, `"Hidden_Cases": [{"fn": "g", "args": [], "want": 2}], "hidden_cases":`, "Hidden_Cases"},
		{`"hidden_cases":`, `"hidden_ca\u017fes": [{"fn": "g", "args": [], "want": 2}], "hidden_cases":`, "hidden_ca"},
		{`"hidden_cases":`, `"hidden_test": "a", "hidden_test": "b", "hidden_cases":`, "hidden_test"},
		{`"hidden_cases":`, `"fixed": "a", "fi\u0078ed": "b", "hidden_cases":`, "fixed"},
		{`"solution.py":`, `"solution.py": "y = 1\n", "solution.py":`, "solution.py"},
		{`"want": 1`, `"want": 1, "want": 2`, "want"},
		{`"want": 1`, `"want": 1, "Want": 2`, "Want"},
		{`"want": 1`, `"want": {"tuple": [{"k": 1, "k": 2}]}`, "k"},
		{`"A": 1`, `"a": 1`, "a"},
		{`"rel": 0.1`, `"rel": 0.1, "rel": 0.2`, "rel"},
		{`"rel": 0.1`, `"rel": 0.1, "REL": 0.2`, "REL"},
		{`"prompt": "p"`, "\"prompt\": \"\xff\"", "UTF-8"},
	} {
		text := strings.Replace(good, tt.from, tt.to, 1)
		if _, err := ParseTask([]byte(text)); err == nil || !strings.Contains(err.Error(), tt.names) {
			t.Errorf("with %s: %v", tt.to, err)
		}
	}
}
