package react

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Brackets alone must not exhaust the stack, which no program survives.
func TestDeeplyNestedTaskFile(t *testing.T) {
	for _, open := range []string{"[", `{"a":`} {
		if _, err := parseUserTask([]byte(strings.Repeat(open, maxFile/len(open)))); err == nil {
			t.Errorf("%d times %q is a task", maxFile/len(open), open)
		}
	}
}

// FuzzUserTask: whatever a task file holds, it is refused with a reason or gives
// a task that can be graded.
func FuzzUserTask(f *testing.F) {
	for _, s := range []string{
		`{"id": "q1", "question": "Q?", "documents": [{"title": "F", "text": "F is. Its capital is Zed."}], "answers": [{"type": "string", "value": "Zed", "aliases": ["Z"]}]}`,
		`{"id": "q", "question": "Q?", "answers": [{"type": "integer", "value": 42}, {"type": "number", "value": 1.5, "tolerance": 0.1}]}`,
		`{"id": "q", "question": "Q?", "answers": [{"type": "date", "value": "1999-12-31"}, {"type": "bool", "value": true}, {"type": "list", "value": ["a"]}]}`,
		`{"id": "q", "id": "r"}`, `{}`, `[[[[`, "\xff",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := parseUserTask(data)
		if err != nil {
			if !utf8.ValidString(err.Error()) || err.Error() == "" {
				t.Errorf("the reason %q is not fit to be shown", err)
			}
			return
		}
		if !userID.MatchString(u.id) || strings.TrimSpace(u.problem.question) == "" || len(u.problem.golds) == 0 {
			t.Errorf("accepted %+v", u)
		}
		if u.problem.corpus != nil {
			u.problem.corpus()
		}
	})
}
