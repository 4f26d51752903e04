package world_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/envs/react/answer"
	"github.com/proctor-rl/proctor/envs/react/world"
)

var mix = world.Mix{Hop1: 1, Hop2: 1, Hop3: 1, Arith2: 1, Arith3: 1, Comparison2: 1, Count: 1}

func TestEqualConfigsEqualWorlds(t *testing.T) {
	for _, style := range []world.Style{world.Compact, world.Prose} {
		cfg := world.Config{Seed: 5, Pool: world.Train, Countries: 6, Style: style}
		a, b := world.New(cfg).Pages(), world.New(cfg).Pages()
		if !slices.EqualFunc(a, b, func(x, y world.Page) bool {
			return x.Title == y.Title && x.Lead == y.Lead && slices.Equal(x.Facts, y.Facts)
		}) {
			t.Errorf("%s: two worlds of one configuration differ", style)
		}
		cfg.Seed++
		if world.New(cfg).Pages()[0].Title == a[0].Title {
			t.Errorf("%s: another seed gave the same first name", style)
		}
	}
}

var titleWord = regexp.MustCompile(`[A-Z][a-z]+`)

// The names of the splits never meet: not as titles and not in any text.
func TestNamesOfPoolsAreDisjoint(t *testing.T) {
	for _, style := range []world.Style{world.Compact, world.Prose} {
		for _, pool := range []world.Pool{world.Train, world.Validation, world.Test} {
			for seed := range uint64(20) {
				for _, p := range world.New(world.Config{Seed: seed, Pool: pool, Countries: 5, Style: style}).Pages() {
					name := titleWord.FindString(strings.TrimPrefix(p.Title, "The "))
					if world.PoolOf(name) != pool {
						t.Fatalf("%s: %q of pool %d belongs to %d", style, p.Title, pool, world.PoolOf(name))
					}
				}
			}
		}
	}
}

func TestTitlesAreUnique(t *testing.T) {
	for seed := range uint64(10) {
		for _, style := range []world.Style{world.Compact, world.Prose} {
			seen := map[string]bool{}
			for _, p := range world.New(world.Config{Seed: seed, Countries: 14, Style: style}).Pages() {
				if key := answer.Fold(p.Title); seen[key] {
					t.Fatalf("%s: title %q twice", style, p.Title)
				} else {
					seen[key] = true
				}
			}
		}
	}
}

func TestProseSize(t *testing.T) {
	for _, countries := range []int{18, 60} {
		n := len(world.New(world.Config{Seed: 1, Countries: countries, Style: world.Prose}).Pages())
		if n < 400 && countries == 18 || n > 2000 {
			t.Errorf("%d countries make %d pages", countries, n)
		}
	}
}

// relationsOf is the composition a question asks for, read off its text.
func relationsOf(text string) string {
	words := regexp.MustCompile(`(?:the|The) ([a-z]+) of|of the ([a-z]+) of`).FindAllStringSubmatch(text, -1)
	var path []string
	for _, m := range words {
		path = append(path, m[1]+m[2])
	}
	return strings.Join(path, " of ")
}

// Compositions kept for the test split are in no question of training or
// validation, and every unseen question of the test split holds one.
func TestHeldOutCompositions(t *testing.T) {
	heldForTest := []string{"firm of the capital", "salary of the president", "age of the mayor of the capital"}
	heldForValidation := []string{"age of the founder", "book of the mayor"}
	arithmeticForTest := func(q world.Question) bool {
		return q.Plan.Op == "sum" && q.Plan.Chains[0][len(q.Plan.Chains[0])-1].Key == "population" ||
			q.Plan.Op == "difference" && q.Plan.Chains[0][len(q.Plan.Chains[0])-1].Key == "salary"
	}
	holds := func(q world.Question, list []string) bool {
		return slices.ContainsFunc(list, func(h string) bool { return strings.Contains(q.Text, h) })
	}
	counts := map[string]int{}
	for _, style := range []world.Style{world.Compact, world.Prose} {
		for _, pool := range []world.Pool{world.Train, world.Validation, world.Test} {
			for _, slice := range []world.Slice{world.Seen, world.Unseen} {
				if pool == world.Train && slice == world.Unseen {
					continue
				}
				for seed := range uint64(100) {
					w := world.New(world.Config{Seed: seed, Pool: pool, Countries: 3, Style: style})
					for i := range uint64(5) {
						q := w.Ask(mix, slice, rand.New(rand.NewPCG(seed, i)))
						test := holds(q, heldForTest) || arithmeticForTest(q)
						if want := pool == world.Test && slice == world.Unseen; test != want {
							t.Fatalf("pool %d, %s: %q", pool, slice, q.Text)
						}
						if slice == world.Seen && holds(q, heldForValidation) {
							t.Fatalf("pool %d, seen: %q", pool, q.Text)
						}
						if q.Slice != slice {
							t.Fatalf("asked for %s, got %s", slice, q.Slice)
						}
						counts[string(q.Form)+string(slice)+relationsOf(q.Text)]++
					}
				}
			}
		}
	}
	if len(counts) < 40 {
		t.Errorf("only %d different compositions were asked", len(counts))
	}
}

// No page holds a question: searching it word for word finds no shortcut.
func TestNoPageHoldsAQuestion(t *testing.T) {
	for seed := range uint64(50) {
		w := world.New(world.Config{Seed: seed, Pool: world.Test, Countries: 4, Style: world.Prose})
		var all strings.Builder
		for _, p := range w.Pages() {
			all.WriteString(p.Title + " " + strings.Join(p.Facts, " ") + "\n")
		}
		for i := range uint64(8) {
			q := w.Ask(mix, world.Seen, rand.New(rand.NewPCG(seed, i)))
			if strings.Contains(all.String(), q.Text) || strings.Contains(all.String(), strings.TrimSuffix(q.Text, "?")) {
				t.Fatalf("a page holds %q", q.Text)
			}
		}
	}
}
