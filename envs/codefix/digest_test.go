package codefix

import (
	"encoding/json"
	"testing"
)

// A digest is public: guesses at what a user's task hides could be tried
// against one that covers it.
func TestDigestKeepsWhatUsersHide(t *testing.T) {
	digest := func(change func(*Task)) string {
		task := clampTask()
		change(&task)
		typ := newType(t, Options{UserTasks: []Task{task}})
		kept, err := typ.Tasks().Find(task.ID)
		if err != nil {
			t.Fatal(err)
		}
		if p := kept.Private.(*Task); p.Fixed == "" || len(p.HiddenCases) == 0 { // the type's own
			t.Error("the digest took the hidden part away")
		}
		return typ.Spec().Digest
	}
	had := digest(func(*Task) {})
	if digest(func(k *Task) { k.HiddenCases[0].Want = json.RawMessage("-3"); k.Fixed += "#" }) != had {
		t.Error("the digest tells one hidden case from another")
	}
	if digest(func(k *Task) { k.Prompt += "!" }) == had {
		t.Error("the digest does not cover the prompt")
	}
}
