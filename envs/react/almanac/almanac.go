// Package almanac is a corpus of real countries with questions about them: a
// transfer test for agents that learned in invented worlds.
//
// The data are public-domain profiles of 2015, carried as a file (see
// data/LICENCE.txt). Gold answers are taken from that file and from nowhere
// else, so what a model remembers of the world helps only where it agrees.
// Package react renders it as an environment type.
package almanac

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
	"unicode"

	"github.com/proctor-rl/proctor/envs/react/world"
)

//go:embed data/countries.json
var data []byte

// Almanac is the corpus. It is immutable.
type Almanac struct {
	countries []country
	byName    map[string]*country
	pool      map[world.Pool][]*country
}

type country struct {
	name    string
	fields  map[string]string
	numbers map[string]string // as written, with commas
	borders []border
}

type border struct {
	name string
	km   string
}

// order is the order of a page's sentences: field, and how it is introduced.
// The first five are the lead.
var order = []struct{ field, label string }{
	{"location", "Location"},
	{"capital", "Capital"},
	{"government", "Government"},
	{"area", "Area"},
	{"borders", "Border countries"},
	{"boundaries", "Length of land boundaries"},
	{"coastline", "Coastline"},
	{"highest point", "Highest point"},
	{"lowest point", "Lowest point"},
	{"population", "Population"},
	{"median age", "Median age"},
	{"life expectancy", "Life expectancy"},
	{"languages", "Languages"},
	{"independence", "Independence"},
	{"climate", "Climate"},
	{"terrain", "Terrain"},
	{"natural resources", "Natural resources"},
	{"exports", "Exports"},
	{"airports", "Airports"},
	{"internet code", "Internet code"},
}

const leadSentences = 5

// Load reads the corpus that is built in.
func Load() (*Almanac, error) {
	var rows []map[string]string
	if err := json.Unmarshal(data, &rows); err != nil {
		return nil, fmt.Errorf("read almanac: %w", err)
	}
	a := &Almanac{countries: make([]country, len(rows)), byName: map[string]*country{}, pool: map[world.Pool][]*country{}}
	for i, r := range rows {
		c := &a.countries[i]
		*c = country{name: r["name"], fields: r, numbers: numbers(r), borders: borders(r["borders"])}
		a.byName[c.name] = c
		p := poolOf(c.name)
		a.pool[p] = append(a.pool[p], c)
	}
	return a, nil
}

// poolOf splits the countries that questions are about: six in ten for
// training, three in ten for the test.
func poolOf(name string) world.Pool {
	h := fnv.New32a()
	h.Write([]byte(name)) // a hash never fails to write
	switch n := h.Sum32() % 10; {
	case n < 3:
		return world.Test
	case n == 3:
		return world.Validation
	}
	return world.Train
}

var (
	areaForm       = regexp.MustCompile(`^([\d,]+) sq km`)
	populationForm = regexp.MustCompile(`^([\d,]+)\b`)
	coastlineForm  = regexp.MustCompile(`^([\d,]+) km`)
	boundaryForm   = regexp.MustCompile(`^([\d,]+) km`)
	pointForm      = regexp.MustCompile(`^[^\d;]*? ([\d,]+) m(?: \(|$)`)
	airportForm    = regexp.MustCompile(`^([\d,]+)\b`)
	borderForm     = regexp.MustCompile(`([A-Z][^,\d(]*?)(?: \([^)]*\))? ([\d,]*\.?\d+) km`)
)

// numbers are the whole numbers that questions compute with; what is not
// plainly one is left out.
func numbers(r map[string]string) map[string]string {
	n := map[string]string{}
	for field, form := range map[string]*regexp.Regexp{
		"area": areaForm, "population": populationForm, "coastline": coastlineForm,
		"boundaries": boundaryForm, "highest point": pointForm, "airports": airportForm,
	} {
		if m := form.FindStringSubmatch(r[field]); m != nil {
			n[field] = m[1]
		}
	}
	return n
}

func borders(s string) []border {
	var list []border
	for _, m := range borderForm.FindAllStringSubmatch(s, -1) {
		list = append(list, border{strings.TrimSpace(m[1]), m[2]})
	}
	return list
}

// Pages renders a page a country.
func (a *Almanac) Pages() []world.Page {
	pages := make([]world.Page, len(a.countries))
	for i, c := range a.countries {
		var facts []string
		for _, o := range order {
			if v := c.fields[o.field]; v != "" {
				facts = append(facts, o.label+": "+plain(strings.TrimRight(v, "."))+".")
			}
		}
		pages[i] = world.Page{Title: c.name, Lead: strings.Join(facts[:min(leadSentences, len(facts))], " "), Facts: facts}
	}
	return pages
}

// plain drops what cannot be printed on a line.
func plain(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
}
