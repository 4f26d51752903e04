package episode

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func FuzzWellFormed(f *testing.F) {
	for _, s := range []string{`"\ud800"`, `"\ud83d\ude00"`, `"\\ud800"`, `"\udc00\ud800"`, `"\ud800\ud83d\ude00"`, `"\ud800\n"`, `"\u00e9\\"`, `{"\udfff":"\uD800\\"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !utf8.Valid(raw) || !json.Valid(raw) {
			t.Skip()
		}
		got := wellFormed(raw)
		var a, b any
		if json.Unmarshal(raw, &a) != nil {
			t.Skip() // such as a number beyond all floats
		}
		if err := json.Unmarshal(got, &b); err != nil {
			t.Fatalf("%s became %s: %v", raw, got, err)
		}
		x, err1 := json.Marshal(a)
		y, err2 := json.Marshal(b)
		if err1 != nil || err2 != nil || string(x) != string(y) {
			t.Errorf("%s became %s", raw, got)
		}
		if again := wellFormed(got); string(again) != string(got) {
			t.Errorf("%s became %s, and that %s", raw, got, again)
		}
	})
}
