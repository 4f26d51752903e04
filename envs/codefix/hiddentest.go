package codefix

import (
	"context"
	"fmt"
	"slices"

	"github.com/proctor-rl/proctor/internal/sandbox"
)

const hiddenTestFile = "test_checks.py"

// runHiddenTest judges a submission by the task's hidden pytest text.
//
// A test may work out what a call should have returned from an argument of the
// call, after it: a solution that empties its argument and returns nothing
// would be right. So arguments that the gold solution leaves alone are frozen:
// the test keeps what it handed over. Another test may be there to see that
// the input was left alone; so a submission that changed what was frozen has to
// pass once more with its changes in view. One that changed nothing is judged
// by one run. Without a gold solution nothing is known of what has to change,
// and everything is in view; check plays a solution that empties its arguments
// to find tests that it satisfies.
func (j *judge) runHiddenTest(ctx context.Context, t *Task, files sandbox.Files) (sandbox.PytestResult, error) {
	written, known, err := j.written(ctx, t)
	if err != nil {
		return sandbox.PytestResult{}, err
	}
	job := hiddenTestJob(t, files)
	job.Freeze, job.Written = known, written
	r, err := j.run.Proxied(ctx, job)
	if err != nil || !job.Freeze || !r.AllPassed() || !slices.ContainsFunc(r.Changed, func(name string) bool { return !slices.Contains(written, name) }) {
		return r, err
	}
	job.Freeze = false
	return j.run.Proxied(ctx, job)
}

func hiddenTestJob(t *Task, files sandbox.Files) sandbox.ProxiedJob {
	return sandbox.ProxiedJob{
		Files: files, Tests: sandbox.Files{hiddenTestFile: []byte(t.HiddenTest)},
		Original: sandbox.Files(t.original()), Targets: []string{hiddenTestFile}, Functions: t.functions(), Limits: gradeLimits,
	}
}

// written names the arguments that the gold solution changes in some call of
// the hidden test. It is found out once for a task.
func (j *judge) written(ctx context.Context, t *Task) (names []string, known bool, err error) {
	gold := t.gold()
	if gold == nil {
		return nil, false, nil
	}
	names, err = remember(ctx, j, fmt.Sprintf("written %s %s", t.Split, t.ID), func() ([]string, bool, error) {
		w := newWorkspace(t.original(), false)
		for p, text := range gold {
			w.files[p] = []byte(text)
		}
		r, err := j.run.Proxied(ctx, hiddenTestJob(t, j.submitted(w)))
		if err != nil {
			return nil, false, err
		}
		if !lasting(r.Fault) {
			// What it would have changed is not known, and to guess would be unfair.
			return nil, false, fmt.Errorf("the gold solution of %s came to no end: %s", t.ID, r.Fault)
		}
		return r.Changed, true, nil
	})
	return names, err == nil, err
}
