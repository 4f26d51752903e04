package answer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/envs/react/answer"
)

func gold(t *testing.T, js string) answer.Gold {
	t.Helper()
	var s answer.Spec
	if err := json.Unmarshal([]byte(js), &s); err != nil {
		t.Fatal(err)
	}
	g, err := answer.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestMatch(t *testing.T) {
	lyra := `{"type":"string","value":"Lyra"}`
	seven := `{"type":"integer","value":-7}`
	for _, c := range []struct {
		name, gold, answer string
		want               bool
	}{
		{"same", lyra, "Lyra", true},
		{"case, article, spaces, full stop", lyra, "  The LYRA. ", true},
		{"quoted", lyra, `"Lyra"`, true},
		{"list of candidates", lyra, "Lyra or Cygnus", false},
		{"list with commas", lyra, "Lyra, Cygnus", false},
		{"JSON list", lyra, `["Lyra", "Cygnus"]`, false},
		{"contained", lyra, "I think it is Lyra", false},
		{"twice", lyra, "Lyra Lyra", false},
		{"part", lyra, "Lyr", false},
		{"zero-width inside", lyra, "Ly\u200bra", false},
		{"typographic apostrophe", `{"type":"string","value":"O'Brien"}`, "O’Brien", true},
		{"apostrophe lost", `{"type":"string","value":"O'Brien"}`, "OBrien", false},
		{"hyphen that does not break", `{"type":"string","value":"Jean-Luc"}`, "Jean\u2011Luc", true},
		{"hyphen lost", `{"type":"string","value":"Jean-Luc"}`, "JeanLuc", false},
		{"sharp s in capitals", `{"type":"string","value":"Straße"}`, "STRASSE", true},
		{"last sigma", `{"type":"string","value":"ΟΔΟΣ"}`, "οδος", true},
		{"dotted capital i", `{"type":"string","value":"İstanbul"}`, "istanbul", true},
		{"homoglyph", lyra, "Lyr\u0430", false},
		{"empty", lyra, "", false},
		{"invalid bytes", lyra, "Lyra\xff", false},
		{"decomposed accent", `{"type":"string","value":"Zoé"}`, "Zoe\u0301", true},
		{"accent matters", `{"type":"string","value":"Zoé"}`, "Zoe", false},
		{"article alone against a gold of articles", `{"type":"string","value":"The The"}`, "the", false},
		{"gold of articles itself", `{"type":"string","value":"The The"}`, "the the", true},
		{"single letter that looks like an article", `{"type":"string","value":"A"}`, "a", true},
		{"single letter, other", `{"type":"string","value":"A"}`, "the", false},
		{"punctuation only", `{"type":"string","value":"..."}`, "!!!", false},
		{"punctuation only, same", `{"type":"string","value":"..."}`, "...", true},
		{"sharp is part", `{"type":"string","value":"C#"}`, "C", false},
		{"plus is part", `{"type":"string","value":"C++"}`, "C", false},
		{"alias", `{"type":"string","value":"U.S.","aliases":["United States"]}`, "united  states", true},
		{"inner article kept", `{"type":"string","value":"Lord of the Rings"}`, "Lord of Rings", false},

		{"sign kept", seven, "7", false},
		{"sign", seven, "-7", true},
		{"typographic minus", seven, "\u22127", true},
		{"number in quotes at the end of a sentence", seven, "\"-7\".", true},
		{"number called out", seven, "-7!", true},
		{"number in brackets", `{"type":"integer","value":7}`, "(7)", false},
		{"number in typographic quotes", seven, "\u201c-7\u201d", true},
		{"thousands", `{"type":"integer","value":1234}`, "1,234", true},
		{"misplaced comma", `{"type":"integer","value":1234}`, "12,34", false},
		{"digit inside", `{"type":"integer","value":10}`, "100", false},
		{"unit", `{"type":"integer","value":10}`, "10 km", false},
		{"two numbers", `{"type":"integer","value":10}`, "10 or 11", false},
		{"whole float", `{"type":"integer","value":10}`, "10.0", true},
		{"fraction", `{"type":"integer","value":10}`, "10.5", false},
		{"other digits", `{"type":"integer","value":3}`, "\u0663", false},
		{"hex", `{"type":"integer","value":16}`, "0x10", false},
		{"not a number", `{"type":"integer","value":0}`, "nan", false},
		{"blank is not zero", `{"type":"integer","value":0}`, " ", false},
		{"point is not zero", `{"type":"integer","value":0}`, ".", false},
		{"huge integer", `{"type":"integer","value":123456789012345678901234567890}`, "123456789012345678901234567891", false},

		{"decimal by value", `{"type":"decimal","value":3.5}`, "3.50", true},
		{"decimal, point lost", `{"type":"decimal","value":3.5}`, "35", false},
		{"decimal beyond float64", `{"type":"decimal","value":0.1}`, "0.10000000000000000001", false},
		{"decimal exponent", `{"type":"decimal","value":1200}`, "1.2e3", true},
		{"inside abs", `{"type":"decimal","value":3.5,"abs":0.1}`, "3.6", true},
		{"outside abs", `{"type":"decimal","value":3.5,"abs":0.1}`, "3.61", false},
		{"infinite", `{"type":"decimal","value":3.5,"abs":0.1}`, "inf", false},

		{"date", `{"type":"date","value":"1847-03-02"}`, "2 March 1847", true},
		{"date, American", `{"type":"date","value":"1847-03-02"}`, "March 2, 1847", true},
		{"date, other", `{"type":"date","value":"1847-03-02"}`, "1847-02-03", false},
		{"date, less precise", `{"type":"date","value":"1847-03-02"}`, "1847", false},
		{"year", `{"type":"date","value":"1847"}`, "1847", true},

		{"date, ordinal", `{"type":"date","value":"1847-03-02"}`, "the 2nd of March, 1847", true},
		{"date, wrong ordinal", `{"type":"date","value":"1847-03-02"}`, "2th March 1847", false},
		{"date, abbreviated", `{"type":"date","value":"1847-09-02"}`, "Sept. 2, 1847", true},
		{"date, no blank", `{"type":"date","value":"1847-03-02"}`, "March 2,1847", true},
		{"date, short parts", `{"type":"date","value":"1847-03-02"}`, "1847-3-2", true},
		{"date, strokes, the year first", `{"type":"date","value":"1847-03-02"}`, "1847/03/02", true},
		{"date, strokes, swappable", `{"type":"date","value":"1847-03-02"}`, "02/03/1847", false},
		{"date, quoted", `{"type":"date","value":"1847-03-02"}`, "“2 March 1847”.", true},
		{"date, weekday", `{"type":"date","value":"1847-03-02"}`, "Tuesday, March 2, 1847", true},
		{"date, wrong weekday", `{"type":"date","value":"1847-03-02"}`, "Monday, March 2, 1847", false},
		{"date, no such day", `{"type":"date","value":"1847-03-03"}`, "31 February 1847", false},
		{"date, no such month", `{"type":"date","value":"1847-03"}`, "1847-15", false},
		{"date, two", `{"type":"date","value":"1847-03-02"}`, "2 March 1847 or 3 March 1847", false},
		{"month", `{"type":"date","value":"1847-03"}`, "March, 1847", true},
		{"month, more precise", `{"type":"date","value":"1847-03"}`, "1847-03-01", false},
		{"year, quoted", `{"type":"date","value":"1847"}`, "“1847”", true},
		{"year, thousands", `{"type":"date","value":"1847"}`, "1,847", false},

		{"yes", `{"type":"boolean","value":true}`, "Yes.", true},
		{"true", `{"type":"boolean","value":"yes"}`, "true", true},
		{"both", `{"type":"boolean","value":true}`, "yes or no", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := gold(t, c.gold).Match(c.answer); got != c.want {
				t.Errorf("gold %s, answer %q: got %v, want %v", c.gold, c.answer, got, c.want)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	for _, js := range []string{
		`{"type":"string","value":""}`,
		`{"type":"string","value":"  "}`,
		`{"type":"string","value":7}`,
		`{"type":"string"}`,
		`{"type":"integer","value":1.5}`,
		`{"type":"integer","value":"x"}`,
		`{"type":"integer","value":1,"abs":1}`,
		`{"type":"decimal","value":1,"abs":-1}`,
		`{"type":"date","value":"soon"}`,
		`{"type":"boolean","value":2}`,
		`{"type":"number","value":2}`,
		`{"type":"integer","value":2,"aliases":["two"]}`,
	} {
		var s answer.Spec
		if err := json.Unmarshal([]byte(js), &s); err != nil {
			t.Fatal(err)
		}
		if _, err := answer.New(s); err == nil {
			t.Errorf("%s: accepted", js)
		}
	}
}

func TestHugeAnswerIsWrong(t *testing.T) {
	huge := strings.Repeat("1", 1<<20)
	for _, js := range []string{`{"type":"string","value":"1"}`, `{"type":"integer","value":1}`, `{"type":"decimal","value":1.5}`, `{"type":"date","value":"1847"}`, `{"type":"boolean","value":true}`} {
		if gold(t, js).Match(huge) {
			t.Errorf("%s matches a megabyte", js)
		}
	}
}

func FuzzFold(f *testing.F) {
	for _, s := range []string{"The The", "a", "...", " the  Lyra ", "Zoe\u0301", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := answer.Fold(s)
		if strings.TrimSpace(s) != "" && strings.ToValidUTF8(s, "") == s && got == "" {
			t.Errorf("Fold(%q) is empty", s)
		}
	})
}
