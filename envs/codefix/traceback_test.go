package codefix

import (
	"strings"
	"testing"
)

func TestTracebacksQuoteNoSource(t *testing.T) {
	task := clampTask()
	typ := newType(t, Options{UserTasks: []Task{task}})
	_, outs := playTask(t, typ, "clamp", edit("solution.py", "def clamp(x, lo, hi):\n    print('really said')\n    print('NOT SAID' if open('/nowhere') else '')\n"), "Action: run_tests()")
	text := outs[1].Observation.Text
	for _, want := range []string{"really said", "FileNotFoundError", "0 passed, 2 failed", "assert clamp(5, 0, 10) == 5"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "NOT SAID") {
		t.Errorf("a line of source is quoted:\n%s", text)
	}
}
