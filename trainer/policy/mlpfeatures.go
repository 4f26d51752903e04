package policy

import (
	"hash/fnv"
	"slices"
	"strings"
)

// builder hashes conjunctions of state, question words and action.
type builder struct {
	s     *Scene
	state []uint64
	words []uint64 // of the question's structure, each once
	whole uint64   // the structure as one
	out   []Candidate
}

func newBuilder(s *Scene, state []string) *builder {
	structure := s.structure()
	words := wordHashes(structure)
	slices.Sort(words)
	return &builder{
		s: s, state: wordHashes(state), words: slices.Compact(words),
		whole: wordHashes([]string{strings.Join(structure, " ")})[0],
	}
}

func (b *builder) add(action string, tags ...string) {
	a := wordHashes(tags)
	f := make([]int32, 0, len(a)*(1+len(b.state))+len(b.words)*2)
	put := func(h uint64) { f = append(f, int32(h%b.s.buckets)) }
	for i, h := range a {
		put(mixHash(h, 1))
		if operator(tags[i]) {
			// Most words of two forms of question are the same, and the form that
			// is asked more often decides what those say. The whole is its own.
			put(mixHash(h, b.whole+11))
			continue
		}
		for _, st := range b.state {
			put(mixHash(h, st))
		}
	}
	// Words of the question meet the kind of action only: an operator, a tool.
	// What to compute depends on them and not on how the numbers were found;
	// letting the state decide it too would make one habit of operators that
	// happened to go together in training.
	for _, w := range b.words {
		for i, t := range tags {
			if len(t) <= 2 || operator(t) || t == "Fnumber" {
				put(mixHash(a[i], w+7))
			}
		}
	}
	b.out = append(b.out, Candidate{Action: "Action: " + action + "\n", Features: f})
}

// operator reports whether a tag names an operator of the calculator.
func operator(tag string) bool {
	return len(tag) >= 2 && tag[0] == 'C' && strings.IndexByte("+-*", tag[1]) >= 0
}

func wordHashes(x []string) []uint64 {
	out := make([]uint64, len(x))
	for i, w := range x {
		h := fnv.New64a()
		_, _ = h.Write([]byte(w)) // never fails
		out[i] = h.Sum64()
	}
	return out
}

// mixHash is the finisher of splitmix64 over a pair.
func mixHash(a, b uint64) uint64 {
	z := a ^ b*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
