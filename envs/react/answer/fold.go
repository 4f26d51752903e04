package answer

import (
	"math/big"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// edge is the punctuation that may stand around an answer without being part
// of it. Signs, percent, currency and # are left alone: they change what is
// meant ("-7", "5%", "C#").
const edge = ".,;:!?\"'`()[]{}“”‘’«»…"

// Fold brings spellings of one string together: NFC, lower case, single inner
// spaces, no surrounding punctuation, no leading article. A step that would
// leave nothing, or nothing but articles, is not taken, so that different
// strings never meet in the empty one.
func Fold(s string) string {
	if !utf8.ValidString(s) {
		return ""
	}
	s = norm.NFC.String(strings.ToLower(norm.NFC.String(s)))
	s = strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " ")
	if t := strings.TrimSpace(strings.Trim(s, edge)); t != "" {
		s = t
	}
	if first, rest, ok := strings.Cut(s, " "); ok && isArticle(first) && !onlyArticles(rest) {
		s = rest
	}
	return s
}

func isArticle(w string) bool { return w == "a" || w == "an" || w == "the" }

func onlyArticles(s string) bool {
	for _, w := range strings.Fields(s) {
		if !isArticle(w) {
			return false
		}
	}
	return true
}

var number = regexp.MustCompile(`^([+-]?)(0|[1-9][0-9]*|[1-9][0-9]{0,2}(?:,[0-9]{3})+)?(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$`)

// parseNumber reads one number by value: sign, digits with or without
// thousands commas, fraction, exponent. The typographic minus counts as a
// minus, since a model writes it; other scripts' digits do not count.
func parseNumber(s string) (*big.Rat, bool) {
	s = strings.TrimSpace(s)
	s = strings.TrimSpace(strings.Trim(s, "\"'`“”‘’"))
	s = strings.TrimSuffix(s, ".")
	s = strings.Replace(s, "\u2212", "-", 1)
	m := number.FindStringSubmatch(s)
	if m == nil || (m[2] == "" && m[3] == "") {
		return nil, false
	}
	whole := strings.ReplaceAll(m[2], ",", "")
	if whole == "" {
		whole = "0"
	}
	return new(big.Rat).SetString(m[1] + whole + m[3] + m[4])
}

// day is a date of year, month or day precision: the parts not given are 0.
type day struct{ year, month, day int }

var dayForms = []struct {
	layout string
	parts  int
}{
	{"2006-01-02", 3},
	{"2 January 2006", 3},
	{"2 Jan 2006", 3},
	{"January 2, 2006", 3},
	{"January 2 2006", 3},
	{"Jan 2, 2006", 3},
	{"Jan 2 2006", 3},
	{"2006-01", 2},
	{"January 2006", 2},
	{"Jan 2006", 2},
	{"2006", 1},
}

// parseDay reads one date. Forms in which day and month could be swapped are
// not read.
func parseDay(s string) (day, bool) {
	s = strings.Join(strings.Fields(strings.Trim(strings.TrimSpace(s), ".!?\"'`")), " ")
	for _, f := range dayForms {
		t, err := time.Parse(f.layout, s)
		if err != nil {
			continue
		}
		d := day{year: t.Year()}
		if f.parts > 1 {
			d.month = int(t.Month())
		}
		if f.parts > 2 {
			d.day = t.Day()
		}
		return d, true
	}
	return day{}, false
}

func parseBool(s string) (value, ok bool) {
	switch Fold(s) {
	case "yes", "true":
		return true, true
	case "no", "false":
		return false, true
	}
	return false, false
}
