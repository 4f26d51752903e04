package bm25_test

import (
	"math"
	"slices"
	"testing"

	"github.com/proctor-rl/proctor/envs/react/bm25"
)

// FuzzSearch: any query over any documents gives what the formula gives.
func FuzzSearch(f *testing.F) {
	f.Add("the capital of Freedonia", "Freedonia is small.", "Its capital is Zed.", 3)
	f.Add("", "", "", 0)
	f.Add("\xff\x00 İ ß", "ß ss SS", "i̇ İ", 9)
	f.Add("one", "one", "", 5) // on average less than one word a document
	f.Fuzz(func(t *testing.T, query, a, b string, limit int) {
		texts := []string{a, b, a + " " + b}
		limit = max(0, min(limit, 5))
		hits := bm25.New(texts).Search(query, limit)
		want := naive(texts, query)
		if n := min(limit, len(want)); len(bm25.Terms(query)) <= 64 && len(hits) != n {
			t.Fatalf("query %q: %d hits, want %d", query, len(hits), n)
		}
		for i, h := range hits {
			// Documents of equal score may change places.
			if !(h.Score > 0) || len(bm25.Terms(query)) <= 64 && math.Abs(h.Score-want[i].Score) > 1e-6 {
				t.Errorf("query %q: hits %v, the formula says %v", query, hits, want)
			}
		}
		if again := bm25.New(texts).Search(query, limit); !slices.Equal(again, hits) {
			t.Errorf("once %v, once %v", hits, again)
		}
	})
}
