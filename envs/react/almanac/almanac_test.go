package almanac_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/envs/react/almanac"
	"github.com/proctor-rl/proctor/envs/react/world"
)

func load(t *testing.T) *almanac.Almanac {
	t.Helper()
	a, err := almanac.Load()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestPages(t *testing.T) {
	pages := load(t).Pages()
	if len(pages) < 150 {
		t.Errorf("only %d countries", len(pages))
	}
	seen := map[string]bool{}
	for _, p := range pages {
		if seen[p.Title] || p.Title == "" || len(p.Facts) < 10 || strings.ContainsAny(p.Lead, "\n\r\x00") {
			t.Errorf("page %q with %d facts", p.Title, len(p.Facts))
		}
		seen[p.Title] = true
	}
}

// Every step of a plan can be read on its page, and the splits ask about
// different countries.
func TestQuestions(t *testing.T) {
	a := load(t)
	pages := map[string]world.Page{}
	for _, p := range a.Pages() {
		pages[p.Title] = p
	}
	asked := map[string]world.Pool{}
	forms := map[world.Form]int{}
	for _, pool := range []world.Pool{world.Train, world.Validation, world.Test} {
		for i := range uint64(600) {
			slice := world.Seen
			if i%2 == 1 {
				slice = world.Unseen
			}
			q := a.Ask(pool, slice, rand.New(rand.NewPCG(i, 3)))
			forms[q.Form]++
			if got := strings.Contains(q.Text, "longest border"); got != (slice == world.Unseen) {
				t.Fatalf("%s: %q", slice, q.Text)
			}
			for _, chain := range q.Plan.Chains {
				for _, s := range chain {
					found := false
					for _, f := range pages[s.Page].Facts {
						found = found || strings.HasPrefix(f, s.Key+": ") && strings.Contains(f, s.Value)
					}
					if !found {
						t.Fatalf("%q: %q of %q is not on its page", q.Text, s.Key, s.Page)
					}
				}
				start := chain[0].Page
				if other, ok := asked[start]; ok && other != pool {
					t.Fatalf("%s is asked about in two splits", start)
				}
				asked[start] = pool
			}
		}
	}
	if len(forms) != 4 {
		t.Errorf("forms %v", forms)
	}
}

// A few answers checked by eye against the source file.
func TestKnownAnswers(t *testing.T) {
	a := load(t)
	want := map[string]string{
		"What is the capital of Austria?":                         "Vienna",
		"How many countries border Austria?":                      "8",
		"What is the population of Austria?":                      "8665550",
		"What is the area (sq km) of Austria?":                    "83871",
		"What is the height (m) of the highest point of Austria?": "3798",
	}
	found := 0
	for _, pool := range []world.Pool{world.Train, world.Validation, world.Test} {
		for i := range uint64(20000) {
			q := a.Ask(pool, world.Seen, rand.New(rand.NewPCG(i, 4)))
			if w, ok := want[q.Text]; ok {
				if q.Gold.String() != w {
					t.Errorf("%s: %s, want %s", q.Text, q.Gold, w)
				}
				found++
				delete(want, q.Text)
			}
		}
	}
	if found != 5 {
		t.Errorf("never asked: %v", want)
	}
}
