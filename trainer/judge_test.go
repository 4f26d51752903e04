package trainer_test

import (
	"context"
	"slices"
	"testing"

	"github.com/proctor-rl/proctor/trainer"
)

// TestJudgeOnFreshTasks checks that skipping leaves out exactly the first
// tasks of each slice, so that a recipe can be judged on others than those it
// was chosen on.
func TestJudgeOnFreshTasks(t *testing.T) {
	f, c := newFake(), miniConfig()
	tr, err := trainer.Untrained(c, trainer.Options{Dir: t.TempDir(), Catalogue: f, Dial: f.dial})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	ids := func(skip, n int) (seen, unseen []string) {
		ev, err := tr.Evaluate(context.Background(), "test", skip, n)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range ev.Outcomes {
			if o.Slice == "seen" {
				seen = append(seen, o.TaskID)
			} else {
				unseen = append(unseen, o.TaskID)
			}
		}
		return seen, unseen
	}
	firstSeen, firstUnseen := ids(0, 9)
	seen, unseen := ids(5, 4)
	if want := firstSeen[5:]; len(seen) != 4 || !slices.Equal(seen, want) {
		t.Errorf("seen tasks %v, want %v", seen, want)
	}
	if want := firstUnseen[5:]; len(unseen) != 4 || !slices.Equal(unseen, want) {
		t.Errorf("unseen tasks %v, want %v", unseen, want)
	}
	if _, err := tr.Evaluate(context.Background(), "test", 1000, 4); err == nil {
		t.Error("no tasks were left and nothing was said")
	}
}
