package scaffold_test

import (
	"testing"
	"unicode/utf8"

	"github.com/proctor-rl/proctor/envs/react/scaffold"
)

// FuzzToolCall: a tool call is understood or refused for a reason, and what it
// is understood as can be shown.
func FuzzToolCall(f *testing.F) {
	for _, s := range []string{`{"answer":"x"}`, `{"answer":42}`, `{"answer":"x","answer":"y"}`, `{"answer":[1]}`, `{"answer":"\ud800"}`, `{}`, ``, `[[[[`, "{\"answer\":\"\xff\"}"} {
		f.Add("finish", s)
		f.Add("dance", s)
	}
	f.Fuzz(func(t *testing.T, name, arguments string) {
		c := scaffold.ToolCall("c1", name, arguments, map[string]string{"finish": "answer"})
		if c.Valid == (c.Problem != "") {
			t.Errorf("%q(%q): neither understood nor refused: %+v", name, arguments, c)
		}
		if c.ID != "c1" || c.Valid && (c.Tool != name || !utf8.ValidString(c.Argument)) {
			t.Errorf("%q(%q): understood as %+v", name, arguments, c)
		}
	})
}
