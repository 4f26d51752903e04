package grade_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/proctor-rl/proctor/internal/sandbox"
	"github.com/proctor-rl/proctor/internal/sandbox/grade"
	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

// The tests of this package run real code in the real sandbox. They need
// python3 with pytest and fail without it.

var shared struct {
	once sync.Once
	pool *sandbox.Pool
	err  error
}

// patient is for code that should come to its end, even on a busy machine;
// short is for code that never will.
var (
	patient = sandbox.Limits{Wall: 20 * time.Second, CPU: 10 * time.Second, MemoryBytes: 256 << 20}
	short   = sandbox.Limits{Wall: 600 * time.Millisecond, CPU: 10 * time.Second, MemoryBytes: 256 << 20}
)

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.pool != nil {
		shared.pool.Close()
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func pool(t *testing.T) *sandbox.Pool {
	t.Helper()
	shared.once.Do(func() { shared.pool, shared.err = sandbox.New(context.Background(), sandbox.Config{Limits: patient}) })
	if shared.err != nil {
		t.Fatalf("these tests need a machine that can confine code, and python3 with pytest: %v", shared.err)
	}
	return shared.pool
}

type program struct {
	name   string
	files  sandbox.Files
	limits sandbox.Limits
}

// programs reads workspaces from a file: "=== name" starts one, with an
// exclamation mark if it never ends by itself; "# file: name" starts a file
// other than solution.py.
func programs(t *testing.T, name string) []program {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []program
	for _, part := range strings.Split("\n"+string(text), "\n=== ")[1:] {
		title, body, _ := strings.Cut(part, "\n")
		p := program{title, sandbox.Files{}, patient}
		if name, ok := strings.CutPrefix(title, "! "); ok {
			p.name, p.limits = name, short
		}
		file := "solution.py"
		for _, line := range strings.SplitAfter(strings.TrimSuffix(body, "\n")+"\n", "\n") {
			if f, ok := strings.CutPrefix(line, "# file: "); ok {
				file = strings.TrimSpace(f)
				p.files[file] = []byte{}
				continue
			}
			p.files[file] = append(p.files[file], line...)
		}
		out = append(out, p)
	}
	return out
}

var mixInputs = [][2]int64{{1, 5}, {0, 9}, {4, 4}, {10, -3}, {7, 0}, {2, 100}, {33, 1}, {5, 5}, {0, 0}, {8, -24}, {19, 2}, {3, 3}, {-1, 4}, {-20, 0}}

// mixSuite wants 3a+b, and ValueError for a negative a.
func mixSuite() grade.Suite {
	var s grade.Suite
	for _, in := range mixInputs {
		c := grade.Case{Fn: "mix", Args: []pyval.Value{pyval.IntOf(in[0]), pyval.IntOf(in[1])}}
		if in[0] < 0 {
			c.Raises = "ValueError"
		} else {
			c.Want = pyval.IntOf(3*in[0] + in[1])
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

// mixTests is the same as a hidden test in pytest's language.
func mixTests() sandbox.Files {
	var b strings.Builder
	b.WriteString("import pytest\nimport solution\nfrom solution import mix\n\n@pytest.mark.parametrize('a,b,want', [")
	for _, in := range mixInputs {
		if in[0] >= 0 {
			fmt.Fprintf(&b, "(%d, %d, %d), ", in[0], in[1], 3*in[0]+in[1])
		}
	}
	b.WriteString("])\ndef test_hidden(a, b, want):\n    got = solution.mix(a, b)\n    assert got == want\n    assert abs(got - want) < 1e-9\n    assert type(got) is int\n")
	b.WriteString("\ndef test_hidden_refusal():\n    for a, b in ((-1, 4), (-20, 0)):\n        with pytest.raises(ValueError):\n            mix(a, b)\n")
	return sandbox.Files{"test_hidden.py": []byte(b.String())}
}
