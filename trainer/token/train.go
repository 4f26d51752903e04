package token

import "sort"

// minPairCount is how often a pair has to occur to be merged: rarer ones are
// names of the training set, and merging those teaches nothing about others.
const minPairCount = 8

// Train learns a tokenizer of at most vocab tokens from texts. It gives fewer
// if the texts have no more frequent pairs. The result depends on the texts
// and not on their order.
func Train(texts []string, vocab int) *Tokenizer {
	words := countPieces(texts)
	t := newTokenizer(nil)
	var merges [][2]int32
	pairs := make(map[[2]int32]int)
	for baseVocab+len(merges) < vocab {
		clear(pairs)
		for _, w := range words {
			for i := 0; i+1 < len(w.ids); i++ {
				pairs[[2]int32{w.ids[i], w.ids[i+1]}] += w.count
			}
		}
		best, n := [2]int32{}, minPairCount-1
		for p, c := range pairs {
			if half(p[0]) || half(p[1]) {
				continue
			}
			if c > n || c == n && n >= minPairCount && less(p, best) {
				best, n = p, c
			}
		}
		if n < minPairCount {
			break
		}
		id := int32(baseVocab + len(merges))
		merges = append(merges, best)
		for k := range words {
			words[k].ids = mergePair(words[k].ids, best, id)
		}
	}
	if len(merges) > 0 {
		t = newTokenizer(merges)
	}
	return t
}

type word struct {
	text  string
	ids   []int32
	count int
}

// countPieces counts the distinct pieces that merges can apply to, sorted.
func countPieces(texts []string) []word {
	counts := make(map[string]int)
	for _, s := range texts {
		for len(s) > 0 {
			n := piece(s)
			if n > 1 && !isDigit(s[0]) {
				counts[s[:n]]++
			}
			s = s[n:]
		}
	}
	words := make([]word, 0, len(counts))
	for s, c := range counts {
		var ids []int32
		for i := 0; i < len(s); i++ {
			ids = appendByte(ids, s[i])
		}
		words = append(words, word{s, ids, c})
	}
	sort.Slice(words, func(i, j int) bool { return words[i].text < words[j].text })
	return words
}

// mergePair replaces every pair in ids from the left, in place.
func mergePair(ids []int32, pair [2]int32, id int32) []int32 {
	out := ids[:0]
	for i := 0; i < len(ids); i++ {
		if i+1 < len(ids) && ids[i] == pair[0] && ids[i+1] == pair[1] {
			out = append(out, id)
			i++
			continue
		}
		out = append(out, ids[i])
	}
	return out
}

func half(id int32) bool { return id >= firstHigh && id < firstPair }

func less(a, b [2]int32) bool { return a[0] < b[0] || a[0] == b[0] && a[1] < b[1] }
