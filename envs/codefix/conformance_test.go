package codefix

import (
	"testing"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/envtest"
)

func TestConformance(t *testing.T) {
	typ := newType(t, Options{UserTasks: []Task{clampTask()}})
	envtest.Run(t, typ, envtest.Options{
		Tasks: 1, Scripts: []string{"perfect", "lazy", "cheat", "demo"},
		Answers: func(task envs.Task) []string {
			p := task.Private.(*Task)
			return []string{p.Fixed, p.Gold[solutionFile]}
		},
		Secrets: func(task envs.Task) []string { return []string{task.Private.(*Task).HiddenTest} },
	})
}
