package grade_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/proctor-rl/proctor/internal/sandbox/grade"
)

// FuzzCases: hidden cases are read or refused with a reason, whatever they hold.
func FuzzCases(f *testing.F) {
	for _, s := range []string{
		`[{"op": "call", "fn": "clamp", "args": [5, 0, 3], "want": 3}]`,
		`[{"fn": "f", "args": [{"set": [1]}], "want": {"dict": [[{"tuple": [1]}, 2.5]]}, "tagged": true}]`,
		`[{"fn": "f", "args": [[1]], "want_args": [[2]], "compare": {"kind": "approx", "rel": 1e-9}}]`,
		`[{"fn": "f", "kwargs": [1], "raises": "ValueError"}]`,
		`[{"fn": "f", "want": {"float": "nan"}, "tagged": true}]`, `[{"fn": "f", "want": 1e400}]`, `[] []`, `[[[[`, "\xff",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cases, err := grade.ParseCases(data)
		if err != nil {
			if s := err.Error(); !utf8.ValidString(s) || strings.Contains(s, "%!") {
				t.Errorf("the reason %q is not fit to be shown", s)
			}
			return
		}
		for _, c := range cases {
			if c.Fn == "" || c.WantArgs != nil && len(c.WantArgs) != len(c.Args) {
				t.Errorf("accepted %+v", c)
			}
			if c.Raises == "" && c.Check == nil {
				_ = c.Want.String()
			}
		}
	})
}
