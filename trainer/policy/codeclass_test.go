package policy

import "testing"

// Only the whole name of a built-in function stands for itself: a part of one,
// or a name that two of them hold between them, is a name as any other.
func TestCodeClassTakesWholeNames(t *testing.T) {
	for text, want := range map[string]string{
		"len": "len", "sorted": "sorted", "range": "range", "min": "min", "abs": "abs",
		"sort": "name", "ran": "name", "ange": "name", "sor": "name", "rted": "name", "total": "name", "x": "name",
	} {
		if got := codeClass(codeLex("x = "+text), 2); got != want {
			t.Errorf("%s is classed as %q, want %q", text, got, want)
		}
	}
}
