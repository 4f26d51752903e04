package react_test

import (
	"testing"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/envtest"
	"github.com/proctor-rl/proctor/envs/react"
)

// given is the answers that must not come for nothing. A comparison names
// both candidates, and a number of a few digits turns up by chance.
func given(t envs.Task) []string {
	var s []string
	for _, g := range react.Golds(t) {
		if len(g) > 3 && t.Public["kind"] != "comparison" {
			s = append(s, g)
		}
	}
	return s
}

func TestConformance(t *testing.T) {
	for _, o := range []react.Options{react.Prose(), react.Compact(), react.Mini(), react.MiniShaped()} {
		t.Run(o.Name, func(t *testing.T) {
			typ, err := react.New(o)
			if err != nil {
				t.Fatal(err)
			}
			envtest.Run(t, typ, envtest.Options{Tasks: 30, Answers: given})
		})
	}
}
