package bm25_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/envs/react/bm25"
)

// naive is the formula as it is printed, one document at a time.
func naive(texts []string, query string) []bm25.Hit {
	var total float64
	for _, t := range texts {
		total += float64(len(bm25.Terms(t)))
	}
	mean := total / float64(len(texts))
	words := bm25.Terms(query)
	slices.Sort(words)
	words = slices.Compact(words)
	var hits []bm25.Hit
	for i, t := range texts {
		terms := bm25.Terms(t)
		score := 0.0
		for _, w := range words {
			df := 0.0
			for _, u := range texts {
				if slices.Contains(bm25.Terms(u), w) {
					df++
				}
			}
			f := 0.0
			for _, x := range terms {
				if x == w {
					f++
				}
			}
			if f == 0 {
				continue
			}
			idf := math.Log(1 + (float64(len(texts))-df+.5)/(df+.5))
			score += idf * f * 2.2 / (f + 1.2*(1-.75+.75*float64(len(terms))/mean))
		}
		if score > 0 {
			hits = append(hits, bm25.Hit{Doc: i, Score: score})
		}
	}
	slices.SortStableFunc(hits, func(a, b bm25.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits
}

func TestAgainstTheFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("river town mayor ridge of the old mill bridge age stone market")
	text := func(n int) string {
		var s []string
		for range n {
			s = append(s, words[min(rng.IntN(len(words)), rng.IntN(len(words)))])
		}
		return strings.Join(s, " ")
	}
	for range 50 {
		var texts []string
		for range 2 + rng.IntN(30) {
			texts = append(texts, text(1+rng.IntN(20)))
		}
		q := text(1 + rng.IntN(4))
		got, want := bm25.New(texts).Search(q, len(texts)), naive(texts, q)
		if len(got) != len(want) {
			t.Fatalf("%q: %d hits, want %d", q, len(got), len(want))
		}
		for i := range got {
			if math.Abs(got[i].Score-want[i].Score) > 1e-9 {
				t.Fatalf("%q: hit %d is %+v, want %+v", q, i, got[i], want[i])
			}
		}
	}
}

func TestTiesGoByNumber(t *testing.T) {
	texts := slices.Repeat([]string{"same words here"}, 20)
	x := bm25.New(texts)
	for _, q := range []string{"same words", "words same", "words  SAME words"} {
		for i, h := range x.Search(q, 5) {
			if h.Doc != i {
				t.Errorf("%q: rank %d is document %d", q, i, h.Doc)
			}
		}
	}
}

func TestOddInput(t *testing.T) {
	if got := bm25.New(nil).Search("x", 5); len(got) != 0 {
		t.Errorf("empty corpus: %v", got)
	}
	x := bm25.New([]string{"", "a b", "c"})
	for _, q := range []string{"", "!!", "\xff\xfe", strings.Repeat("z ", 1<<18)} {
		if got := x.Search(q, 5); len(got) != 0 {
			t.Errorf("%.20q: %v", q, got)
		}
	}
	if got := x.Search("a", 0); len(got) != 0 {
		t.Errorf("limit 0: %v", got)
	}
}
