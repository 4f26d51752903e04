package codefix_test

import (
	"testing"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/codefix"
	"github.com/proctor-rl/proctor/envs/codefix/grammar"
	"github.com/proctor-rl/proctor/envs/envtest"
)

// The type for small policies is made of this package's parts and passes what
// every type does.
func TestGrammarConformance(t *testing.T) {
	typ, err := grammar.New(codefix.Options{Runner: codefix.Pool(), Key: []byte("test")})
	if err != nil {
		t.Fatal(err)
	}
	envtest.Run(t, typ, envtest.Options{
		Tasks: 2,
		Answers: func(task envs.Task) []string {
			p := task.Private.(*codefix.Task)
			return []string{p.Fixed, p.Gold["solution.py"]}
		},
	})
}
