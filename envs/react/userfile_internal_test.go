package react

import (
	"strings"
	"testing"
)

// A file whose answer could be read in two ways is refused, however it hides it.
func TestUserFileFieldsAreExact(t *testing.T) {
	const good = `{"id":"q","question":"Q?","documents":[{"title":"T","text":"x"}],"answers":[{"type":"string","value":"Zed"}]}`
	if _, err := parseUserTask([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ from, to string }{
		{`"answers":`, `"answers":[{"type":"string","value":"No"}],"answers":`},
		{`"answers":`, `"Answers":[{"type":"string","value":"No"}],"answers":`},
		{`"answers":`, `"an\u017fwers":[{"type":"string","value":"No"}],"answers":`},
		{`"value":"Zed"`, `"value":"Zed","value":"No"`},
		{`"value":"Zed"`, `"value":"Zed","Value":"No"`},
		{`"value":"Zed"`, `"value":"Zed","\u0076alue":"No"`},
		{`"title":"T"`, `"title":"T","TITLE":"U"`},
	} {
		if _, err := parseUserTask([]byte(strings.Replace(good, tt.from, tt.to, 1))); err == nil {
			t.Errorf("accepted with %s", tt.to)
		}
	}
	for _, odd := range []string{``, `{`, `{"id"`, `[]`, `null`, strings.Repeat("[", 300_000), `{"id":"q","question":` + strings.Repeat(`{"a":`, 100_000)} {
		if _, err := parseUserTask([]byte(odd)); err == nil {
			t.Errorf("accepted %.20q", odd)
		}
	}
}
