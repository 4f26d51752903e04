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

func TestCompactConformance(t *testing.T) {
	typ := newType(t, Options{Compact: true})
	envtest.Run(t, typ, envtest.Options{
		Tasks: 1, Scripts: []string{"perfect", "lazy", "cheat", "demo"},
		Answers: func(task envs.Task) []string { return []string{task.Private.(*Task).Gold[solutionFile]} },
		Secrets: func(task envs.Task) []string {
			var s []string
			for _, c := range task.Private.(*Task).HiddenCases {
				s = append(s, string(c.Args))
			}
			return s
		},
	})
}

// The teaching example is an environment like the others but for what it pays:
// its cheat, which deserves nothing, is paid, and that is its point.
func TestNaiveConformance(t *testing.T) {
	typ := newType(t, Options{UserTasks: []Task{clampTask()}, Naive: true})
	envtest.Run(t, typ, envtest.Options{
		Tasks: 1, Scripts: []string{"perfect", "lazy", "demo"},
		Answers: func(task envs.Task) []string {
			p := task.Private.(*Task)
			return []string{p.Fixed, p.Gold[solutionFile]}
		},
	})
}
