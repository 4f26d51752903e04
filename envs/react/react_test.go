package react_test

import (
	"testing"
	"time"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/react"
)

func compact(t *testing.T) *react.Type {
	t.Helper()
	typ, err := react.New(react.Compact())
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

func TestTasksAreFoundAgain(t *testing.T) {
	set := compact(t).Tasks()
	seen := map[string]bool{}
	for _, split := range []string{envs.SplitTrain, envs.SplitValidation, envs.SplitTest} {
		for i := range 300 {
			task, err := set.At(split, i*7)
			if err != nil {
				t.Fatal(err)
			}
			if seen[task.ID] {
				t.Fatalf("id %s twice", task.ID)
			}
			seen[task.ID] = true
			again, err := set.Find(task.ID)
			if err != nil || again.ID != task.ID || again.Split != split {
				t.Fatalf("find %s: %+v, %v", task.ID, again, err)
			}
		}
	}
	for _, id := range []string{"", "x", "00000000000000000000000000000000", "FF", "../etc"} {
		if _, err := set.Find(id); err == nil {
			t.Errorf("id %q found", id)
		}
	}
}

func TestTasksAreQuick(t *testing.T) {
	set := compact(t).Tasks()
	const n = 4000
	start := time.Now()
	for i := range n {
		if _, err := set.At(envs.SplitTrain, i*49%set.Len(envs.SplitTrain)); err != nil {
			t.Fatal(err)
		}
	}
	// About 0.1 ms each on an idle core; the bound only catches a blunder.
	if d := time.Since(start) / n; d > 5*time.Millisecond {
		t.Errorf("a task takes %v", d)
	} else {
		t.Logf("a task takes %v", d)
	}
}
