package episode

import "testing"

func TestPlainData(t *testing.T) {
	for in, want := range map[string]string{
		`"\u003c\u003E\u0026"`: `"<>&"`,
		`"\\u003c \\\u003c"`:   `"\\u003c \\<"`,
		`"\u0000\u00e9\""`:     `"\u0000\u00e9\""`,
		`{"\u003c":1}`:         `{"<":1}`,
		`"\u003`:               `"\u003`, // an env's own fault, but none of ours
		`"\`:                   `"\`,
		``:                     ``,
	} {
		if got := string(plainData([]byte(in))); got != want {
			t.Errorf("%s became %s, not %s", in, got, want)
		}
	}
}
