package rl_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// tolerance is that of the golden numbers, which are rounded to six digits.
const tolerance = 2e-6

// golden loads a file of numbers that a second implementation (float64, numpy)
// worked out.
func golden(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s = %.7f, want %.7f", what, got, want)
	}
}

func nearAll(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d entries, want %d", what, len(got), len(want))
	}
	for i := range want {
		if math.IsNaN(got[i]) || math.Abs(got[i]-want[i]) > tolerance {
			t.Errorf("%s[%d] = %.7f, want %.7f", what, i, got[i], want[i])
		}
	}
}

func bools(x []float64) []bool {
	out := make([]bool, len(x))
	for i := range x {
		out[i] = x[i] != 0
	}
	return out
}
