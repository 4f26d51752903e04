package world

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// Page is one searchable document.
type Page struct {
	Title string
	Lead  string   // what opening the page shows
	Facts []string // what a lookup goes through, in order
}

// Pages renders the world. Order and text depend on the configuration only.
func (w *World) Pages() []Page {
	if w.cfg.Style == Prose {
		return w.prosePages()
	}
	rng := rand.New(rand.NewPCG(w.cfg.Seed, 0xfac7))
	pages := make([]Page, len(w.entities))
	for i := range w.entities {
		pages[i] = w.compactPage(&w.entities[i], rng)
	}
	return pages
}

// compactPage is one line: "Vote: country. river Soka, capital Dumi, area
// 4812." A hidden number is shown as a question mark. The order of facts
// varies, so that reading needs the word and not the place.
func (w *World) compactPage(e *entity, rng *rand.Rand) Page {
	spec := schema[e.kind]
	var shown, facts []string
	for i, r := range spec.relations {
		if e.targets[i] == none {
			continue
		}
		f := r.name + " " + w.entities[e.targets[i]].name
		shown, facts = append(shown, f), append(facts, f+".")
	}
	for i, a := range spec.attributes {
		f := a.name + " " + strconv.Itoa(e.numbers[i])
		facts = append(facts, f+".")
		if a.hidden {
			f = a.name + " ?"
		}
		shown = append(shown, f)
	}
	rng.Shuffle(len(shown), func(i, j int) {
		shown[i], shown[j] = shown[j], shown[i]
		facts[i], facts[j] = facts[j], facts[i]
	})
	return Page{
		Title: e.name,
		Lead:  e.name + ": " + spec.word + ". " + strings.Join(shown, ", ") + ".",
		Facts: facts,
	}
}
