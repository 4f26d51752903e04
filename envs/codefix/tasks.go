package codefix

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/proctor-rl/proctor/envs"
)

// Source is where tasks come from. It is safe for concurrent use and its tasks
// are never changed.
type Source interface {
	// Len is the number of tasks of a split.
	Len(split string) int
	// At is task i of a split, 0 <= i < Len(split).
	At(split string, i int) (*Task, error)
	// Find is the task of an id, or envs.ErrNoTask.
	Find(id string) (*Task, error)
	// Digest identifies the content of the whole source.
	Digest() string
}

// taskSet is a source and what a user brought.
type taskSet struct {
	source Source
	user   []*Task
	byID   map[string]*Task
}

func newTaskSet(s Source, user []Task) (*taskSet, error) {
	t := &taskSet{source: s, byID: map[string]*Task{}}
	for i := range user {
		u := user[i]
		if _, taken := t.byID[u.ID]; taken {
			return nil, fmt.Errorf("user task %q: the id is taken", u.ID)
		}
		if _, err := s.Find(u.ID); err == nil {
			return nil, fmt.Errorf("user task %q: the id is that of a built-in task", u.ID)
		}
		t.byID[u.ID] = &u
		t.user = append(t.user, &u)
	}
	return t, nil
}

// Len is the number of tasks of a split.
func (t *taskSet) Len(split string) int {
	if split == envs.SplitUser {
		return len(t.user)
	}
	return t.source.Len(split)
}

// At is task i of a split.
func (t *taskSet) At(split string, i int) (envs.Task, error) {
	if i < 0 || i >= t.Len(split) {
		return envs.Task{}, fmt.Errorf("%w: %s has no task %d", envs.ErrNoTask, split, i)
	}
	if split == envs.SplitUser {
		return t.user[i].env(), nil
	}
	task, err := t.source.At(split, i)
	if err != nil {
		return envs.Task{}, err
	}
	return task.env(), nil
}

// Find is the task of an id.
func (t *taskSet) Find(id string) (envs.Task, error) {
	if u, ok := t.byID[id]; ok {
		return u.env(), nil
	}
	task, err := t.source.Find(id)
	if err != nil {
		return envs.Task{}, err
	}
	return task.env(), nil
}

// digest covers tasks and whatever configures rewards and dynamics, but not what
// a user's tasks hide: it is public, and guesses could be tried against it.
func (t *taskSet) digest(o Options) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %v %v %t %t\n%s\n", o.Identity.Name, o.Identity.Version, o.StepReward, o.RefusedWritePenalty, o.Naive, o.Compact, t.source.Digest())
	for _, u := range t.user {
		shown := *u
		shown.HiddenCases, shown.HiddenTest, shown.Fixed = nil, "", ""
		b, err := json.Marshal(shown)
		if err != nil {
			b = []byte(u.ID) // a task that was parsed from JSON always encodes
		}
		h.Write(b)
	}
	return fmt.Sprintf("sha256:%x", h.Sum(nil))
}
