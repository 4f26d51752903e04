package grade

import (
	"testing"

	"github.com/proctor-rl/proctor/internal/sandbox"
)

func chain(names ...string) sandbox.Answer {
	a := sandbox.Answer{Done: true}
	for _, n := range names {
		a.Raised = append(a.Raised, sandbox.Class{Name: n, Builtin: builtinException(n)})
	}
	return a
}

// An exception below two unrelated classes satisfies a suite that wants one
// of them, and none that has to see them told apart.
func TestEvasiveExceptions(t *testing.T) {
	both := chain("Mine", "KeyError", "LookupError", "ValueError", "Exception", "BaseException")
	key := chain("KeyError", "LookupError", "Exception", "BaseException")
	for _, c := range []struct {
		name  string
		wants []string // of the suite; the first is the case's own
		a     sandbox.Answer
		right bool
	}{
		{"one wanted class", []string{"KeyError", "KeyError", ""}, both, true},
		{"two unrelated classes", []string{"KeyError", "ValueError"}, both, false},
		{"two unrelated classes, plain", []string{"KeyError", "ValueError"}, key, true},
		{"a class and its base", []string{"LookupError", "KeyError"}, key, true},
		{"a base and its class", []string{"KeyError", "LookupError", "Exception"}, key, true},
		{"classes of the task's own", []string{"KeyError", "Mine"}, both, true},
		{"an old name", []string{"IOError", "KeyError"}, chain("FileNotFoundError", "OSError", "Exception", "BaseException"), true},
		{"a dotted name", []string{"json.JSONDecodeError"}, chain("JSONDecodeError", "ValueError", "Exception"), true},
	} {
		s := Suite{}
		for _, w := range c.wants {
			s.Cases = append(s.Cases, Case{Fn: "f", Raises: w})
		}
		if got := s.Cases[0].Right(c.a) && !s.evasive(s.Cases[0], c.a); got != c.right {
			t.Errorf("%s: right %v", c.name, got)
		}
	}
	if below("KeyError", "ValueError") || !below("TabError", "Exception") || builtinException("") {
		t.Error("the tree of exceptions is wrong")
	}
}
