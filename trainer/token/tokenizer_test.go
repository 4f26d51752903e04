package token_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/trainer/token"
)

// transcripts are texts like those the trainer meets, with repeated words.
func transcripts() []string {
	var out []string
	for i := range 60 {
		out = append(out, fmt.Sprintf("Question: What is the age of the mayor of Dumi%d?\n"+
			"Thought: so the mayor is Vote, find the age\nAction: search[ Vote]\nObservation: Vote | age %d | town Dumi\n"+
			"Action: finish[ %d]\n>> x = %d - 1\n", i%7, 20+i, 20+i, 7*i))
	}
	return out
}

func TestRoundTrip(t *testing.T) {
	k := token.Train(transcripts(), 400)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, s := range append(transcripts(), "", " ", "\n\n", "  a", "a\tb\r\n", "12345", "0007", "Zürich — 北京", "\xff\xfe\x80", "\x00", string(all), ">>> x") {
		if got := k.Decode(k.Encode(s)); got != s {
			t.Errorf("%q came back as %q", s, got)
		}
	}
}

// TestPieces is the rules that copying depends on.
func TestPieces(t *testing.T) {
	k := token.Train(transcripts(), 400)
	for _, c := range []struct {
		text string
		want []string
	}{
		{"12345", []string{"12", "34", "5"}},
		{"\n\n", []string{"\n", "\n"}},
		{" Thought", []string{" Thought"}},
		{"Action:", []string{"Action", ":"}},
		{"7 8", []string{"7", " ", "8"}},
	} {
		var got []string
		for _, id := range k.Encode(c.text) {
			got = append(got, k.Decode([]int32{id}))
		}
		if c.text == " Thought" {
			// Only where it stands at the start of a line was it seen in training.
			if strings.Join(got, "") != c.text {
				t.Errorf("%q: %q", c.text, got)
			}
			continue
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q is %q, want %q", c.text, got, c.want)
		}
	}
	for id := range int32(k.Vocab()) {
		s := k.Decode([]int32{id})
		if len(s) > 1 && strings.Contains(s, "\n") {
			t.Errorf("token %d merges a newline: %q", id, s)
		}
		if strings.ContainsAny(s, "0123456789") && (len(s) > 2 || strings.Trim(s, "0123456789") != "") {
			t.Errorf("token %d merges a digit: %q", id, s)
		}
	}
	for i := range 100 {
		if got := k.Encode(fmt.Sprintf("%02d", i)); len(got) != 1 {
			t.Errorf("%02d is %d tokens", i, len(got))
		}
	}
}

func TestTrainIsDeterministic(t *testing.T) {
	texts := transcripts()
	a := token.Train(texts, 350)
	slices.Reverse(texts)
	b := token.Train(texts, 350)
	if a.Hash() != b.Hash() {
		t.Error("the order of the texts changed the tokenizer")
	}
	if a.Vocab() < 290 || a.Vocab() > 350 {
		t.Errorf("vocabulary %d, want 290 to 350", a.Vocab())
	}
	if n, bytes := len(a.Encode(texts[0])), len(texts[0]); n*2 > bytes {
		t.Errorf("%d tokens for %d bytes: nothing was learned", n, bytes)
	}
}

func TestSaveLoad(t *testing.T) {
	a := token.Train(transcripts(), 350)
	var buf bytes.Buffer
	if err := a.Save(&buf); err != nil {
		t.Fatal(err)
	}
	text := buf.String()
	b, err := token.Load(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if a.Hash() != b.Hash() || !slices.Equal(a.Encode(transcripts()[3]), b.Encode(transcripts()[3])) {
		t.Error("what was loaded encodes differently")
	}
	for _, bad := range []string{"", "{}", strings.Replace(text, "[[", "[[3,4],[", 1), strings.Replace(text, "[[", "[[900,4],[", 1), strings.Replace(text, "[[", "[[0,4],[", 1)} {
		if _, err := token.Load(strings.NewReader(bad)); err == nil {
			t.Errorf("loaded %.40q", bad)
		}
	}
}

// TestDecodeIsTotal decodes what only a policy would write.
func TestDecodeIsTotal(t *testing.T) {
	k := token.Train(nil, 0)
	for _, ids := range [][]int32{{token.Pad, token.EOS}, {-1}, {1 << 30}, {100}, {120}, {120, 100}, {100, 100, 116}} {
		_ = k.Decode(ids)
	}
	if got := k.Decode([]int32{token.Pad, token.EOS}); got != "" {
		t.Errorf("reserved tokens decode to %q", got)
	}
	for id := range int32(k.Vocab()) {
		if id > token.EOS && k.Decode([]int32{id}) == "" {
			t.Errorf("token %d decodes to nothing", id)
		}
	}
}

func TestConcurrentEncode(t *testing.T) {
	k := token.Train(transcripts(), 400)
	want := k.Encode(transcripts()[5])
	done := make(chan bool)
	for range 4 {
		go func() {
			ok := true
			for _, s := range transcripts() {
				k.Encode(s)
				ok = ok && slices.Equal(k.Encode(transcripts()[5]), want)
			}
			done <- ok
		}()
	}
	for range 4 {
		if !<-done {
			t.Error("concurrent use changed an encoding")
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	k := token.Train(transcripts(), 400)
	for _, s := range transcripts()[:4] {
		f.Add(s)
	}
	f.Add("\xff\x00 ñ >>12345")
	f.Fuzz(func(t *testing.T, s string) {
		ids := k.Encode(s)
		if got := k.Decode(ids); got != s {
			t.Errorf("%q came back as %q", s, got)
		}
		for _, id := range ids {
			if id <= token.EOS || int(id) >= k.Vocab() {
				t.Errorf("token %d", id)
			}
		}
		if !slices.Equal(ids, k.Encode(s)) {
			t.Error("two encodings differ")
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	k := token.Train(transcripts(), 400)
	text := strings.Join(transcripts(), "")
	var ids []int32
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		ids = k.AppendEncode(ids[:0], text)
	}
}
