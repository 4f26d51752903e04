package almanac

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/proctor-rl/proctor/envs/react/answer"
	"github.com/proctor-rl/proctor/envs/react/world"
)

// asked are the numbers that questions are about.
var asked = []struct{ field, label, phrase, more string }{
	{"area", "Area", "the area (sq km) of", "larger by area"},
	{"population", "Population", "the population of", "more populous"},
	{"coastline", "Coastline", "the coastline (km) of", "longer by coastline"},
	{"boundaries", "Length of land boundaries", "the length of the land boundaries (km) of", ""},
	{"highest point", "Highest point", "the height (m) of the highest point of", "higher by its highest point"},
	{"airports", "Airports", "the number of airports of", ""},
}

// Ask draws a question about the countries of a pool. Slice Unseen asks for
// the neighbour with the longest border and something of it, which no question
// of slice Seen composes.
func (a *Almanac) Ask(pool world.Pool, slice world.Slice, rng *rand.Rand) world.Question {
	for {
		var q world.Question
		var ok bool
		if slice == world.Unseen {
			q, ok = a.neighbour(pool, rng)
		} else {
			switch rng.IntN(6) {
			case 0:
				q, ok = a.capital(pool, rng)
			case 1:
				q, ok = a.number(pool, rng)
			case 2:
				q, ok = a.bordering(pool, rng)
			case 3:
				q, ok = a.comparison(pool, rng)
			default:
				q, ok = a.arithmetic(pool, rng)
			}
		}
		if ok {
			q.Slice = slice
			return q
		}
	}
}

func (a *Almanac) draw(pool world.Pool, rng *rand.Rand) *country {
	list := a.pool[pool]
	return list[rng.IntN(len(list))]
}

func (a *Almanac) capital(pool world.Pool, rng *rand.Rand) (world.Question, bool) {
	c := a.draw(pool, rng)
	return world.Question{
		Text: "What is the capital of " + c.name + "?",
		Gold: answer.Text(c.fields["capital"]), Form: world.Chain, Hops: 1,
		Plan: world.Plan{Chains: [][]world.Step{{{Page: c.name, Key: "Capital", Value: c.fields["capital"]}}}},
	}, c.name != c.fields["capital"]
}

// step is the page and the number of an asked field.
func (a *Almanac) step(c *country, i int) (world.Step, int64, bool) {
	s, ok := c.numbers[asked[i].field]
	if !ok {
		return world.Step{}, 0, false
	}
	v, err := strconv.ParseInt(strings.ReplaceAll(s, ",", ""), 10, 64)
	return world.Step{Page: c.name, Key: asked[i].label, Value: s, Number: true}, v, err == nil
}

func (a *Almanac) number(pool world.Pool, rng *rand.Rand) (world.Question, bool) {
	c, i := a.draw(pool, rng), rng.IntN(len(asked))
	s, v, ok := a.step(c, i)
	return world.Question{
		Text: "What is " + asked[i].phrase + " " + c.name + "?",
		Gold: answer.Int(v), Form: world.Chain, Hops: 1,
		Plan: world.Plan{Chains: [][]world.Step{{s}}},
	}, ok
}

// bordering counts neighbours.
func (a *Almanac) bordering(pool world.Pool, rng *rand.Rand) (world.Question, bool) {
	c := a.draw(pool, rng)
	n := len(c.borders)
	if n < 2 || n != strings.Count(c.fields["borders"], " km") {
		return world.Question{}, false // not all of it was understood
	}
	return world.Question{
		Text: "How many countries border " + c.name + "?",
		Gold: answer.Int(int64(n)), Form: world.Count, Hops: 1,
		Plan: world.Plan{
			Chains: [][]world.Step{{{Page: c.name, Key: "Border countries", Value: c.borders[0].name}}},
			Answer: strconv.Itoa(n),
		},
	}, true
}

// pair are the numbers of one field of two countries.
func (a *Almanac) pair(pool world.Pool, rng *rand.Rand) (i int, s [2]world.Step, v [2]int64, ok bool) {
	i = rng.IntN(len(asked))
	b, c := a.draw(pool, rng), a.draw(pool, rng)
	var okB, okC bool
	s[0], v[0], okB = a.step(b, i)
	s[1], v[1], okC = a.step(c, i)
	return i, s, v, okB && okC && v[0] != v[1]
}

func (a *Almanac) comparison(pool world.Pool, rng *rand.Rand) (world.Question, bool) {
	i, s, v, ok := a.pair(pool, rng)
	if !ok || asked[i].more == "" {
		return world.Question{}, false
	}
	better := s[0].Page
	if v[1] > v[0] {
		better = s[1].Page
	}
	return world.Question{
		Text: fmt.Sprintf("Which country is %s, %s or %s?", asked[i].more, s[0].Page, s[1].Page),
		Gold: answer.Text(better), Form: world.Comparison, Hops: 2,
		Plan: world.Plan{Chains: [][]world.Step{{s[0]}, {s[1]}}},
	}, true
}

func (a *Almanac) arithmetic(pool world.Pool, rng *rand.Rand) (world.Question, bool) {
	i, s, v, ok := a.pair(pool, rng)
	if !ok {
		return world.Question{}, false
	}
	if v[0] < v[1] {
		s[0], s[1], v[0], v[1] = s[1], s[0], v[1], v[0]
	}
	q := world.Question{Form: world.Arithmetic, Hops: 2}
	op, phrase := "difference", asked[i].phrase
	q.Text = fmt.Sprintf("How much more is %s %s than that of %s?", phrase, s[0].Page, s[1].Page)
	q.Gold = answer.Int(v[0] - v[1])
	if rng.IntN(2) == 0 {
		op = "sum"
		q.Text = fmt.Sprintf("What is the sum of %s %s and that of %s?", phrase, s[0].Page, s[1].Page)
		q.Gold = answer.Int(v[0] + v[1])
	}
	q.Plan = world.Plan{Chains: [][]world.Step{{s[0]}, {s[1]}}, Op: op}
	return q, true
}

// neighbour goes over the longest border to another country.
func (a *Almanac) neighbour(pool world.Pool, rng *rand.Rand) (world.Question, bool) {
	c := a.draw(pool, rng)
	var longest *country
	best, equal := -1.0, false
	for _, b := range c.borders {
		km, err := strconv.ParseFloat(strings.ReplaceAll(b.km, ",", ""), 64)
		if err != nil {
			return world.Question{}, false
		}
		switch {
		case km > best:
			best, equal, longest = km, false, a.byName[b.name]
		case km == best:
			equal = true
		}
	}
	if len(c.borders) < 2 || len(c.borders) != strings.Count(c.fields["borders"], " km") || longest == nil || equal {
		return world.Question{}, false
	}
	first := world.Step{Page: c.name, Key: "Border countries", Value: longest.name}
	of := "the country with which " + c.name + " has its longest border"
	if rng.IntN(2) == 0 {
		capital := longest.fields["capital"]
		return world.Question{
			Text: "What is the capital of " + of + "?",
			Gold: answer.Text(capital), Form: world.Chain, Hops: 2,
			Plan: world.Plan{Chains: [][]world.Step{{first, {Page: longest.name, Key: "Capital", Value: capital}}}},
		}, true
	}
	i := rng.IntN(2)
	s, v, ok := a.step(longest, i)
	return world.Question{
		Text: "What is " + asked[i].phrase + " " + of + "?",
		Gold: answer.Int(v), Form: world.Chain, Hops: 2,
		Plan: world.Plan{Chains: [][]world.Step{{first, s}}},
	}, ok
}
