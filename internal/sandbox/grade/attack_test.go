package grade_test

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/proctor-rl/proctor/internal/ordinary"
	"github.com/proctor-rl/proctor/internal/sandbox"
	"github.com/proctor-rl/proctor/internal/sandbox/grade"
)

// slack is what a run may take beyond the longest that it gets, here, where
// several hostile runs share the machine. The tests of package sandbox hold
// each limit to a second.
const slack = 5 * time.Second

// TestAttacksEarnNothing plays every attack against both graders. None may
// pass, none may look like a fault of ours, and none may outlast its limit.
func TestAttacksEarnNothing(t *testing.T) {
	p := pool(t)
	attacks := programs(t, "attacks.txt")
	if len(attacks) < 60 {
		t.Fatalf("only %d attacks were read", len(attacks))
	}
	gate := make(chan struct{}, 2*runtime.NumCPU())
	t.Run("all", func(t *testing.T) {
		for _, a := range attacks {
			t.Run(a.name, func(t *testing.T) {
				t.Parallel()
				gate <- struct{}{}
				defer func() { <-gate }()
				v, err := grade.Grade(context.Background(), p, a.files, mixSuite(), grade.Options{Seed: 7, Limits: a.limits})
				if err != nil {
					t.Fatalf("calls: the attack looks like a fault of ours: %v", err)
				}
				if v.Solved() {
					t.Errorf("calls: the attack earned the reward: %+v", v)
				}
				if v.Usage.Wall > a.limits.Wall+slack {
					t.Errorf("calls: took %s", v.Usage.Wall)
				}
				if os.Geteuid() != 0 {
					return // the same fences by the same means: root plays this part
				}
				r, err := p.Proxied(context.Background(), sandbox.ProxiedJob{Files: a.files, Tests: mixTests(), Limits: a.limits})
				if err != nil {
					t.Fatalf("proxied: the attack looks like a fault of ours: %v", err)
				}
				if r.AllPassed() {
					t.Errorf("proxied: the attack earned the reward: %+v", r)
				}
				if r.Usage.Wall > a.limits.Wall+2*slack {
					t.Errorf("proxied: took %s", r.Usage.Wall)
				}
			})
		}
	})
	v, err := grade.Grade(context.Background(), p, honest(t), mixSuite(), grade.Options{Limits: patient})
	if err != nil || !v.Solved() {
		t.Errorf("after the attacks an honest solution earned %+v, %v", v, err)
	}
}

func honest(t *testing.T) sandbox.Files {
	t.Helper()
	return programs(t, "honest.txt")[0].files
}

// TestHonestCodeEarnsItsReward plays code that is right in unusual ways.
func TestHonestCodeEarnsItsReward(t *testing.T) {
	p := pool(t)
	all := programs(t, "honest.txt")
	plain := string(honest(t)["solution.py"])
	comments := make([]byte, 0, 1<<20)
	for range 4000 {
		comments = append(comments, "# a line that says nothing in particular about anything\n"...)
	}
	crlf := []byte{}
	for _, c := range []byte(plain) {
		if c == '\n' {
			crlf = append(crlf, '\r')
		}
		crlf = append(crlf, c)
	}
	all = append(all,
		program{"byte order mark", sandbox.Files{"solution.py": []byte("\ufeff" + plain)}, patient},
		program{"carriage returns", sandbox.Files{"solution.py": crlf}, patient},
		program{"no newline at the end", sandbox.Files{"solution.py": []byte(plain[:len(plain)-1])}, patient},
		program{"thousands of comment lines", sandbox.Files{"solution.py": append(comments, plain...)}, patient},
		program{"latin-1 with a declaration", sandbox.Files{"solution.py": []byte("# -*- coding: latin-1 -*-\n# caf\xe9\n" + plain)}, patient},
		program{"edited visible tests beside it", sandbox.Files{"solution.py": []byte(plain), "test_solution.py": []byte("def test_x(): assert 0\n"), "conftest.py": []byte("1/0\n")}, patient},
	)
	for _, h := range all {
		t.Run(h.name, func(t *testing.T) {
			v, err := grade.Grade(context.Background(), p, h.files, mixSuite(), grade.Options{Seed: 3, Limits: patient})
			if err != nil || !v.Solved() || v.Flaky != 0 {
				t.Errorf("calls: %+v, %v", v, err)
			}
			r, err := p.Proxied(context.Background(), sandbox.ProxiedJob{Files: h.files, Tests: mixTests(), Limits: patient})
			if err != nil || !r.AllPassed() {
				t.Errorf("proxied: %+v, %v", r, err)
			}
		})
	}
}

// TestAsOrdinaryUser plays the same as a user without any right, if the tests
// run as root.
func TestAsOrdinaryUser(t *testing.T) {
	ordinary.Again(t, ordinary.Run{Args: []string{"-test.run=Attacks|Honest"}, Folders: map[string]string{"testdata": "testdata"}})
}
