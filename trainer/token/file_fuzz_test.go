package token_test

import (
	"bytes"
	"testing"

	"github.com/proctor-rl/proctor/trainer/token"
)

// FuzzLoad: a tokenizer file that loads encodes any text and gets it back, and
// survives being saved.
func FuzzLoad(f *testing.F) {
	var good bytes.Buffer
	if err := token.Train([]string{"the river and the ridge", "the old mill"}, 300).Save(&good); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes(), "the river \xff")
	f.Add(bytes.Replace(good.Bytes(), []byte(`"merges":[`), []byte(`"merges":[[9999,9999],`), 1), "x")
	f.Add([]byte(`{"format":"proctor-bpe-1","vocab":-1,"merges":null}`), "x")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		tok, err := token.Load(bytes.NewReader(data))
		if err != nil {
			return
		}
		if got := tok.Decode(tok.Encode(text)); got != text {
			t.Errorf("%q came back as %q", text, got)
		}
		var again bytes.Buffer
		if err := tok.Save(&again); err != nil {
			t.Fatal(err)
		}
		if l, err := token.Load(&again); err != nil || l.Hash() != tok.Hash() {
			t.Errorf("saved and loaded again: %v", err)
		}
	})
}
