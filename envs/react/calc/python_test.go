package calc_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/envs/react/calc"
)

// grammar draws expressions that are small enough for Python to evaluate
// whole, so that a refusal of ours for size is never right.
type grammar struct{ rng *rand.Rand }

func (g grammar) number() string {
	switch g.rng.IntN(8) {
	case 0:
		return strconv.Itoa(g.rng.IntN(3))
	case 1:
		return fmt.Sprintf("%d.%d", g.rng.IntN(100), g.rng.IntN(1000))
	case 2:
		return fmt.Sprintf("%de%d", g.rng.IntN(10), g.rng.IntN(60)-30)
	case 3:
		return fmt.Sprint(g.rng.Uint64())
	case 4:
		return fmt.Sprintf("0.%d5", g.rng.IntN(100))
	}
	return strconv.Itoa(g.rng.IntN(1000))
}

func (g grammar) expr(depth int) string {
	if depth == 0 || g.rng.IntN(6) == 0 {
		return g.number()
	}
	sub := func() string { return g.expr(depth - 1) }
	switch g.rng.IntN(12) {
	case 0:
		return "(" + sub() + ")"
	case 1:
		return "-" + sub()
	case 2:
		// Small powers of small numbers.
		return fmt.Sprintf("(%s)**%d", g.number(), g.rng.IntN(7)-2)
	case 3:
		return fmt.Sprintf("%s(%s)", []string{"abs", "floor", "ceil", "round", "sqrt"}[g.rng.IntN(5)], sub())
	case 4:
		return fmt.Sprintf("%s(%s, %s)", []string{"min", "max", "gcd"}[g.rng.IntN(3)], sub(), sub())
	case 5:
		return fmt.Sprintf("round(%s, %d)", sub(), g.rng.IntN(9)-4)
	}
	op := []string{"+", "-", "*", "/", "//", "%", " + ", " - ", " * "}[g.rng.IntN(9)]
	return sub() + op + sub()
}

// TestAgainstPython compares thousands of expressions with Python, in one
// process.
func TestAgainstPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatalf("the comparison needs python3: %v", err)
	}
	// Read here, so that the test cache sees a change.
	if _, err := os.ReadFile("testdata/reference.py"); err != nil {
		t.Fatal(err)
	}
	g := grammar{rand.New(rand.NewPCG(11, 13))}
	var exprs []string
	for len(exprs) < 20000 {
		if e := g.expr(4); len(e) <= 400 {
			exprs = append(exprs, e)
		}
	}
	cmd := exec.CommandContext(t.Context(), python, "-I", "-W", "ignore", "testdata/reference.py")
	cmd.Stdin = strings.NewReader(strings.Join(exprs, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(want) != len(exprs) {
		t.Fatalf("%d answers to %d expressions", len(want), len(exprs))
	}
	values := 0
	for i, e := range exprs {
		got := "error"
		v, err := calc.Eval(e)
		if err == nil {
			got = v.String()
			values++
		}
		if got != want[i] && !(strings.Contains(e, "**") && closeFloats(got, want[i])) {
			t.Errorf("%s: got %s (%v), Python says %s", e, got, err, want[i])
		}
	}
	if values < len(exprs)/2 {
		t.Errorf("only %d of %d expressions have a value", values, len(exprs))
	}
}

// closeFloats allows the last bit of a float that came through a power: ours
// is correctly rounded, C's pow is so in all but one case of some thousands.
func closeFloats(got, want string) bool {
	a, errA := strconv.ParseFloat(got, 64)
	b, errB := strconv.ParseFloat(want, 64)
	return errA == nil && errB == nil && math.Abs(a-b) <= 0x1p-52*math.Abs(b)
}
