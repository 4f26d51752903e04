package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Many episodes whose code sleeps up to its limit, more than the sandbox has
// places for, take no time from others: the clock of a step starts when it has
// its place. Theirs is a 0 and no fault of ours, the right ones' a 1.
func TestCrowdTakesNobodysTime(t *testing.T) {
	tasks := t.TempDir()
	if err := os.Mkdir(filepath.Join(tasks, "codefix"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := codeTasks("testdata/cases", filepath.Join(tasks, "codefix")); err != nil {
		t.Fatal(err)
	}
	base := Serve(t, "--tasks", tasks, "--step-timeout", "2s")
	right := "def listed(words):\n    if len(words) < 2:\n        return \"\".join(words)\n    return \", \".join(words[:-1]) + \" and \" + words[-1]\n"
	var all sync.WaitGroup
	for i := range 50 {
		text, want := fmt.Sprintf("import time\ntime.sleep(%d)\n", 100+i), 0.0
		if i%10 == 9 {
			text, want = fmt.Sprintf("%s# %d\n", right, i), 1
		}
		all.Go(func() {
			e, err := open(t.Context(), base, "codefix", "listed")
			if err == nil {
				err = e.playActions(t.Context(), []CodeAction{{Tool: "edit_file", Args: map[string]any{"path": "solution.py", "content": text}}}, false)
			}
			if err != nil || e.total != want {
				t.Errorf("episode %d: %v, want a reward of %g", i, err, want)
			}
		})
	}
	all.Wait()
}
