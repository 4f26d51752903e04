package world

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// leadSentences is how many sentences opening a page shows; the others are
// found by a lookup only, as in the ReAct paper.
const leadSentences = 5

// prosePages renders paragraphs. What a question may ask for without a lookup
// stands in the lead, hidden numbers stand behind it, asides fill up.
func (w *World) prosePages() []Page {
	pages := make([]Page, len(w.entities))
	for i := range w.entities {
		// One stream a page: a page's text does not depend on its neighbours.
		rng := rand.New(rand.NewPCG(w.cfg.Seed, 0xb00c+uint64(i)))
		pages[i] = w.prosePage(&w.entities[i], writer{w, rng})
	}
	return pages
}

func (w *World) prosePage(e *entity, wr writer) Page {
	spec := schema[e.kind]
	open, behind := []string{}, []string{}
	for i, r := range spec.relations {
		if e.targets[i] == none {
			continue
		}
		open = append(open, wr.say(relationSays[e.kind][r.name], e.name, w.entities[e.targets[i]].name))
	}
	for i, a := range spec.attributes {
		s := wr.say(attributeSays[a.name], e.name, strconv.Itoa(e.numbers[i]))
		if a.hidden {
			behind = append(behind, s)
		} else {
			open = append(open, s)
		}
	}
	if len(e.towns) > 0 {
		open = append(open, "The towns of "+e.name+" are "+w.list(e.towns)+".")
	}
	wr.rng.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	home := w.entities[e.home].name
	facts := append([]string{wr.say(firstSays[e.kind], e.name, home)}, open...)
	asides := wr.asides(e)
	for len(facts) < leadSentences {
		at := 1 + wr.rng.IntN(len(facts))
		facts = append(facts[:at], append([]string{asides[0]}, facts[at:]...)...)
		asides = asides[1:]
	}
	wr.rng.Shuffle(len(behind), func(i, j int) { behind[i], behind[j] = behind[j], behind[i] })
	facts = append(facts, asides[0])
	facts = append(facts, behind...)
	facts = append(facts, asides[1:]...)
	return Page{Title: e.name, Lead: strings.Join(facts[:leadSentences], " "), Facts: facts}
}

// list is "A, B and C".
func (w *World) list(entities []int) string {
	var names []string
	for _, i := range entities {
		names = append(names, w.entities[i].name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// writer picks among ways to say a thing.
type writer struct {
	w   *World
	rng *rand.Rand
}

// say fills one way's places: {a} is the page's subject, {b} the other thing.
func (wr writer) say(ways []string, a, b string) string {
	return strings.NewReplacer("{a}", a, "{b}", b).Replace(ways[wr.rng.IntN(len(ways))])
}

// firstSays opens a page: its name and the country it belongs to.
var firstSays = [kinds][]string{
	Country: {"{a} is a country of hills and slow trains.", "{a} is a country that keeps its own calendar.", "The country of {a} lies between two seas."},
	Town:    {"{a} is a town in {b}.", "{a}, a town of {b}, is built of red stone.", "Among the towns of its land, {a} is the one with the oldest bridge."},
	Person:  {"{a} was born in {b}.", "{a} grew up in {b} as the youngest of six.", "Few people of {b} are talked about as much as {a}."},
	Firm:    {"{a} is a firm from {b}.", "{a} is a firm that began in a cellar in {b}.", "Every child in {b} knows the firm {a}."},
	River:   {"{a} is a river of {b}.", "The river {a} rises in the north of {b}.", "Poets of {b} have written much about the river {a}."},
	Book:    {"{a} is a book printed in {b}.", "{a} is a book that was read all over {b}.", "The book {a} was at first refused by every printer in {b}."},
}

// relationSays states a relation: {a} is the page's subject, {b} the
// object. The relation's name stands in every way to say it.
var relationSays = [kinds]map[string][]string{
	Country: {
		"capital":   {"Its capital is {b}.", "The capital of {a} is {b}.", "Since the last reform {b} has been the capital."},
		"president": {"The president is {b}.", "{b} has been president of {a} for some years.", "Its people chose {b} as president."},
		"river":     {"The great river of {a} is the {b}.", "A river, the {b}, crosses the land."},
	},
	Town: {
		"mayor": {"The mayor is {b}.", "{b} is mayor of {a}.", "After a close vote {b} became mayor."},
		"firm":  {"The best known firm there is {b}.", "Most work is found at the firm {b}.", "The firm {b} has its house on the market square."},
	},
	Person: {
		"book": {"{a} wrote the book {b}.", "A book, {b}, made the name known.", "The only book by {a} is {b}."},
	},
	Firm: {
		"founder": {"The founder was {b}.", "{b} is the founder of {a}.", "Its founder, {b}, still comes in on Mondays."},
	},
}

// attributeSays states a number: {b}. The attribute's name stands in every
// way to say it, so that a lookup finds it.
var attributeSays = map[string][]string{
	"area":       {"The area is {b} square miles.", "{a} has an area of {b} square miles."},
	"population": {"At the last census the population was {b}.", "The population is {b}.", "{a} has a population of {b}."},
	"age":        {"The age of {a} is {b}.", "At the age of {b}, {a} has no wish to retire."},
	"salary":     {"The yearly salary of {a} is {b} crowns.", "A salary of {b} crowns is paid each year."},
	"staff":      {"The staff numbers {b}.", "{a} has a staff of {b}."},
	"length":     {"Its length is {b} miles.", "The length of the {a} is {b} miles."},
	"price":      {"The price is {b} crowns.", "It is sold at a price of {b} crowns."},
}

// asideSays say nothing that is asked for. {a} is the page's subject, {b}
// some other thing of the world: a distractor with a page of its own.
var asideSays = []string{
	"Visitors are often told to see {b} as well.",
	"It should not be confused with {b}.",
	"An old song names it together with {b}.",
	"Much has been written about it, not all of it true.",
	"The winters are said to be longer than the summers.",
	"A quarrel with {b} was settled long ago.",
	"Painters like the light in the early morning.",
	"There is a small museum with a large clock.",
	"Letters to {b} are kept in the archive.",
	"On feast days there is a boat race and a fair.",
	"Nobody knows where the name {a} comes from.",
	"Some say that {b} had a hand in it.",
}

// asides are seven different ones.
func (wr writer) asides(e *entity) []string {
	var s []string
	for _, i := range wr.rng.Perm(len(asideSays))[:7] {
		other := wr.w.entities[wr.rng.IntN(len(wr.w.entities))].name
		s = append(s, wr.say(asideSays[i:i+1], e.name, other))
	}
	return s
}
