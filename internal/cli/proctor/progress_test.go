package proctor

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A line at the start, then at most one in three seconds, and none at the end,
// where the result follows.
func TestProgress(t *testing.T) {
	clock := time.Unix(0, 0)
	var w bytes.Buffer
	p := newProgress(&w, "audit", "episodes", 10, func() time.Time { return clock })
	for range 10 {
		clock = clock.Add(time.Second)
		p.step()
	}
	want := "proctor audit: 0 of 10 episodes\n" +
		"proctor audit: 3 of 10 episodes in 3s, about 7s left\n" +
		"proctor audit: 6 of 10 episodes in 6s, about 4s left\n" +
		"proctor audit: 9 of 10 episodes in 9s, about 1s left\n"
	if w.String() != want {
		t.Errorf("got %q, want %q", w.String(), want)
	}
}

// Whatever may take minutes says on stderr that it goes on.
func TestLongCommandsTellTheirProgress(t *testing.T) {
	tasks := writeTasks(t, map[string]string{"react/q.json": `{"id": "q", "question": "How many?", "documents": [{"title": "A", "text": "There are 7."}],
		"answers": [{"type": "integer", "value": 7}]}`})
	for want, args := range map[string][]string{
		"proctor audit: 0 of ":  {"audit", "react-mini", "-n", "1", "--split", "test"},
		"proctor check: 0 of 1": {"check", "--tasks", tasks},
		"proctor demos: 0 of 5": {"demos", "--env", "react-mini", "--n", "5", "--out", filepath.Join(t.TempDir(), "d.jsonl")},
	} {
		var out, errs bytes.Buffer
		if code := Main(t.Context(), args, &out, &errs); code != exitOK || !strings.Contains(errs.String(), want) || strings.Contains(out.String(), want) {
			t.Errorf("%v: %d, says %q", args, code, errs.String())
		}
	}
}
