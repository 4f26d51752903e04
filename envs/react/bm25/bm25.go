// Package bm25 ranks a few thousand short documents for a query, in memory.
//
// It is Okapi BM25 with one promise on top: equal corpora and queries give
// equal rankings on every machine and in every version, with ties broken by
// document number, because what a search returns is part of an environment's
// dynamics. It neither stems nor guesses; package react calls it.
package bm25

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// The usual constants: how fast repeats of a term saturate, and how much
// length matters.
const (
	k1 = 1.2
	b  = 0.75
)

// maxTerms bounds the work of one query.
const maxTerms = 64

// Index is a searchable corpus. It is immutable, hence safe for concurrent use.
type Index struct {
	postings map[string][]posting
	norm     []float64 // per document: k1 * (1 - b + b*length/mean)
}

type posting struct {
	doc   int
	count int
}

// Hit is a document and its score, which is positive.
type Hit struct {
	Doc   int
	Score float64
}

// New indexes texts; a document is known by its position.
func New(texts []string) *Index {
	x := &Index{postings: map[string][]posting{}, norm: make([]float64, len(texts))}
	total := 0
	for doc, text := range texts {
		terms := Terms(text)
		total += len(terms)
		x.norm[doc] = float64(len(terms))
		for _, t := range terms {
			list := x.postings[t]
			if n := len(list); n > 0 && list[n-1].doc == doc {
				list[n-1].count++
				continue
			}
			x.postings[t] = append(list, posting{doc, 1})
		}
	}
	mean := float64(max(1, total)) / float64(max(1, len(texts)))
	for i, n := range x.norm {
		x.norm[i] = k1 * (1 - b + b*n/mean)
	}
	return x
}

// Search is the best at most limit documents for query, best first.
func (x *Index) Search(query string, limit int) []Hit {
	terms := Terms(query)
	terms = terms[:min(len(terms), maxTerms)]
	slices.Sort(terms)
	terms = slices.Compact(terms)
	scores := map[int]float64{}
	n := float64(len(x.norm))
	// Terms are added in sorted order: float addition is not associative, and
	// the order of words in a query must not decide a tie.
	for _, t := range terms {
		list := x.postings[t]
		df := float64(len(list))
		idf := math.Log(1 + (n-df+0.5)/(df+0.5))
		for _, p := range list {
			f := float64(p.count)
			scores[p.doc] += idf * f * (k1 + 1) / (f + x.norm[p.doc])
		}
	}
	hits := make([]Hit, 0, len(scores))
	for doc, s := range scores {
		hits = append(hits, Hit{doc, s})
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		if c := cmp.Compare(round(b.Score), round(a.Score)); c != 0 {
			return c
		}
		return cmp.Compare(a.Doc, b.Doc)
	})
	return hits[:min(limit, len(hits))]
}

// round hides the last bits of a score, in which processors with and without
// fused multiply-add differ.
func round(score float64) int64 { return int64(math.Round(score * 1e9)) }

// Terms are the lower-case words of a text: runs of letters and digits.
func Terms(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}
