package react

import "github.com/proctor-rl/proctor/envs"

// Golds are the right answers of a task, for tests that look for leaks.
func Golds(t envs.Task) []string {
	var s []string
	for _, g := range t.Private.(*problem).golds {
		s = append(s, g.String())
	}
	return s
}
