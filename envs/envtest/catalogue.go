package envtest

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/envs"
)

var (
	nameForm    = regexp.MustCompile(`^[a-z][a-z0-9-]{1,40}$`)
	versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)
	digestForm  = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// checkSpec looks at what the catalogue shows.
func (s *suite) checkSpec(t *testing.T) {
	sp := s.spec
	if !nameForm.MatchString(sp.Name) || !versionForm.MatchString(sp.Version) || !digestForm.MatchString(sp.Digest) || sp.Summary == "" {
		t.Errorf("name %q, version %q, digest %q, summary %q", sp.Name, sp.Version, sp.Digest, sp.Summary)
	}
	if sp.RewardMax <= sp.RewardMin || len(sp.RewardParts) == 0 {
		t.Errorf("reward from %g to %g in %d parts", sp.RewardMin, sp.RewardMax, len(sp.RewardParts))
	}
	names := map[string]bool{}
	for _, p := range sp.RewardParts {
		if p.Name == "" || names[p.Name] || p.Help == "" || !knownKind(p.Kind) {
			t.Errorf("reward part %+v", p)
		}
		names[p.Name] = true
	}
	if len(sp.Tools) == 0 {
		t.Error("no tools")
	}
	for _, tool := range sp.Tools {
		var schema struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(tool.Parameters, &schema); err != nil || schema.Type != "object" || tool.Name == "" || tool.Description == "" {
			t.Errorf("tool %q: %v, parameters %s", tool.Name, err, tool.Parameters)
		}
	}
	within := func(what string, v, most int) {
		if v < 1 || v > most {
			t.Errorf("%s is %d by default and at most %d", what, v, most)
		}
	}
	within("max_steps", sp.Limits.MaxSteps, sp.MaxLimits.MaxSteps)
	within("wall_time_seconds", sp.Limits.WallTimeSeconds, sp.MaxLimits.WallTimeSeconds)
	within("max_observation_bytes", sp.Limits.MaxObservationBytes, sp.MaxLimits.MaxObservationBytes)
	within("max_tool_calls", sp.Limits.MaxToolCalls, sp.MaxLimits.MaxToolCalls)
	for _, split := range sp.Splits {
		if n := s.typ.Tasks().Len(split.Name); n != split.Tasks || n == 0 {
			t.Errorf("split %s declares %d tasks and has %d", split.Name, split.Tasks, n)
		}
	}
	if n := s.typ.Tasks().Len("no such split"); n != 0 {
		t.Errorf("a split that is not has %d tasks", n)
	}
}

// checkForms plays every form of an action as it stands in the catalogue: it is
// understood, whatever it earns.
func (s *suite) checkForms(t *testing.T) {
	if len(s.spec.ActionForms) == 0 {
		t.Fatal("no form of an action")
	}
	task := s.sample(t)[0]
	e := s.env(t)
	for _, form := range s.spec.ActionForms {
		s.reset(t, e, task)
		o, err := e.Step(t.Context(), envs.Action{Text: form})
		switch {
		case err != nil:
			t.Errorf("form %q: %v", form, err)
		case o.Info.ParseError != "" || o.Info.Action == nil:
			t.Errorf("form %q is not understood: %q", form, o.Info.ParseError)
		}
		s.hides(t, "answer to a form", task, encode(t, o), false)
	}
}

func knownKind(k envs.PartKind) bool {
	return k == envs.PartOutcome || k == envs.PartProcess || k == envs.PartFormat || k == envs.PartPenalty
}

// checkTasks looks at ids, splits and public fields.
func (s *suite) checkTasks(t *testing.T) {
	set := s.typ.Tasks()
	splitOf := map[string]string{}    // by id
	questionOf := map[string]string{} // first observation to split
	e := s.env(t)
	for _, split := range s.spec.Splits {
		n := min(split.Tasks, 8*s.opt.Tasks)
		for k := range n {
			i := k * max(1, split.Tasks/n)
			task, err := set.At(split.Name, i)
			if err != nil {
				t.Fatalf("task %d of %s: %v", i, split.Name, err)
			}
			if prev, ok := splitOf[task.ID]; ok {
				t.Errorf("id %s stands in %s and %s", task.ID, prev, split.Name)
			}
			splitOf[task.ID] = split.Name
			s.checkTask(t, task, split.Name)
			text := s.reset(t, e, task).Text
			if prev, ok := questionOf[text]; ok && prev != split.Name {
				t.Errorf("%s and %s share the task %.80q", prev, split.Name, text)
			}
			questionOf[text] = split.Name
		}
		for _, i := range []int{-1, split.Tasks} {
			if _, err := set.At(split.Name, i); !errors.Is(err, envs.ErrNoTask) {
				t.Errorf("task %d of %s: error %v, want ErrNoTask", i, split.Name, err)
			}
		}
	}
	for _, id := range []string{"", "no such task", "\x00", strings.Repeat("a", 1<<16)} {
		if _, err := set.Find(id); !errors.Is(err, envs.ErrNoTask) {
			t.Errorf("find %.20q: error %v, want ErrNoTask", id, err)
		}
	}
	if _, err := set.At("no such split", 0); !errors.Is(err, envs.ErrNoTask) {
		t.Errorf("unknown split: error %v, want ErrNoTask", err)
	}
}

func (s *suite) checkTask(t *testing.T, task envs.Task, split string) {
	t.Helper()
	if task.ID == "" || task.Split != split {
		t.Errorf("task %q of %s says split %q", task.ID, split, task.Split)
	}
	again, err := s.typ.Tasks().Find(task.ID)
	if err != nil || again.ID != task.ID || again.Split != split {
		t.Errorf("find %s: task %q of %q, %v", task.ID, again.ID, again.Split, err)
	}
	public, err := json.Marshal(task.Public)
	if err != nil {
		t.Fatalf("public fields of %s: %v", task.ID, err)
	}
	publicAgain, err := json.Marshal(again.Public)
	if err != nil || string(public) != string(publicAgain) {
		t.Errorf("task %s found again is another one: %s, %s", task.ID, public, publicAgain)
	}
	if split != envs.SplitUser && (strings.Contains(task.ID, split) || len(task.ID) < 8) {
		t.Errorf("id %q is not opaque", task.ID)
	}
	s.hides(t, "id and public fields", task, task.ID+"\n"+string(public), true)
}

// hides reports private strings in text; free says that nothing was done to
// earn the answer.
func (s *suite) hides(t *testing.T, where string, task envs.Task, text string, free bool) {
	t.Helper()
	private := s.opt.Secrets(task)
	if free {
		private = append(private, s.opt.Answers(task)...)
	}
	for _, p := range private {
		if p != "" && strings.Contains(text, p) {
			t.Errorf("%s of task %s holds the private %q", where, task.ID, p)
		}
	}
}
