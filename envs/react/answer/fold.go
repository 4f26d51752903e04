package answer

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// edge is the punctuation that may stand around an answer without being part
// of it. Signs, percent, currency and # are left alone: they change what is
// meant ("-7", "5%", "C#").
const edge = ".,;:!?\"'`()[]{}“”‘’«»…"

// typography are signs that a keyboard writes another way and no answer hangs
// on: quotes, apostrophes and hyphens. Letters that look alike stay apart.
var typography = strings.NewReplacer("‘", "'", "’", "'", "“", `"`, "”", `"`,
	"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2212", "-")

// Fold brings spellings of one string together: NFC, one case (ß as ss, either
// small sigma), one form of quotes and hyphens, single inner spaces, no
// surrounding punctuation, no leading article. A step that would
// leave nothing, or nothing but articles, is not taken, so that different
// strings never meet in the empty one.
func Fold(s string) string {
	if !utf8.ValidString(s) {
		return ""
	}
	// The dot that a capital İ leaves over a small i says nothing more.
	s = strings.ReplaceAll(cases.Fold().String(norm.NFC.String(s)), "i\u0307", "i")
	s = typography.Replace(norm.NFC.String(s))
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
	s = bare(s)
	if rest, ok := strings.CutPrefix(strings.Replace(s, "\u2212", "\u2013", 1), "\u2013"); ok {
		s = "-" + rest
	}
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

// bare is s without quotes around it and the punctuation of a sentence behind
// it, in any order. Brackets stay: round ones make a number negative to some.
func bare(s string) string {
	for {
		t := strings.TrimRight(strings.Trim(strings.TrimSpace(s), "\"'`“”‘’«»"), ".,;:!?…")
		if t == s {
			return s
		}
		s = t
	}
}

// Forms of a date, in lower case and with single spaces. Where a part is a
// number its place is fixed: nothing in which day and month could be swapped.
var dayForms = []*regexp.Regexp{
	regexp.MustCompile(`^(?P<y>\d{4})(?:-(?P<n>\d{1,2})(?:-(?P<d>\d{1,2}))?)?$`),
	regexp.MustCompile(`^(?P<y>\d{4})/(?P<n>\d{1,2})/(?P<d>\d{1,2})$`),
	regexp.MustCompile(`^(?:(?:the )?(?P<d>\d{1,2})(?P<o>st|nd|rd|th)?(?: of)? )?(?P<m>[a-z]{3,9})\.?(?:, ?| )(?P<y>\d{4})$`),
	regexp.MustCompile(`^(?P<m>[a-z]{3,9})\.? (?:the )?(?P<d>\d{1,2})(?P<o>st|nd|rd|th)?(?:, ?| )(?P<y>\d{4})$`),
	regexp.MustCompile(`^(?P<y>\d{4}),? (?P<m>[a-z]{3,9})\.?(?: (?P<d>\d{1,2})(?P<o>st|nd|rd|th)?)?$`),
}

// parseDay reads one date of the proleptic Gregorian calendar, as precise as it
// is given. A day of the week in front has to be the right one.
func parseDay(s string) (day, bool) {
	s = strings.ToLower(strings.Join(strings.Fields(bare(s)), " "))
	s = strings.NewReplacer("\u2010", "-", "\u2011", "-", "\u2212", "-").Replace(s)
	week := ""
	if first, rest, ok := strings.Cut(s, " "); ok && strings.HasSuffix(strings.TrimSuffix(first, ","), "day") {
		week, s = strings.TrimSuffix(first, ","), rest
	}
	for _, form := range dayForms {
		m := form.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		part := func(name string) string {
			if i := form.SubexpIndex(name); i >= 0 {
				return m[i]
			}
			return ""
		}
		return dayOf(part("y"), part("n"), part("m"), part("d"), part("o"), week)
	}
	return day{}, false
}

// dayOf puts a date together, if there is such a day.
func dayOf(year, number, month, dayOfMonth, ordinal, week string) (d day, ok bool) {
	// Nothing but digits is converted, few of them: there can be no error.
	d.year, _ = strconv.Atoi(year)
	d.month, _ = strconv.Atoi(number)
	d.day, _ = strconv.Atoi(dayOfMonth)
	for m := time.January; month != "" && m <= time.December; m++ {
		name := strings.ToLower(m.String())
		if month == name || month == name[:3] || month == "sept" && m == time.September {
			d.month = int(m)
		}
	}
	if (number != "" || month != "") && (d.month < 1 || d.month > 12) {
		return day{}, false
	}
	if dayOfMonth == "" {
		return d, week == ""
	}
	t := time.Date(d.year, time.Month(d.month), d.day, 0, 0, 0, 0, time.UTC)
	if t.Day() != d.day || ordinal != "" && ordinal != ordinalOf(d.day) || week != "" && week != strings.ToLower(t.Weekday().String()) {
		return day{}, false
	}
	return d, true
}

func ordinalOf(n int) string {
	if n/10 != 1 {
		switch n % 10 {
		case 1:
			return "st"
		case 2:
			return "nd"
		case 3:
			return "rd"
		}
	}
	return "th"
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
