package trainer

import "testing"

// A recipe that could be read in two ways is refused.
func TestRecipeFieldsAreExact(t *testing.T) {
	for text, good := range map[string]bool{
		"seed: 1\nrl:\n  updates: 1\n":           true,
		"# nothing\n":                            true,
		"seed: 1\nseed: 2\n":                     false,
		"rl:\n  updates: 1\n  updates: 2\n":      false,
		"rl:\n  updates: 1\nrl:\n  updates: 2\n": false,
		"Seed: 1\n":                              false,
		"seed: 1\n---\nseed: 2\n":                false,
		"seed: 1\n...\nseed: 2\n":                false,
	} {
		c := Default()
		if err := decode([]byte(text), &c); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}
