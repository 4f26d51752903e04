package policy

import "slices"

// minShared is how many tokens at least sequences have in common before these
// are computed once for all of them.
const minShared = 16

// tree is some sequences of a batch laid out so that the tokens in which they
// begin alike stand there once: the members of a group share their prompt, and
// often a first action and its observation too. It is made of parts, runs of
// tokens each of which goes on after another or begins anew, as nn's Forward
// takes them. The slices grow to the largest tree and are used again.
type tree struct {
	tokens, starts, after []int32
	need                  []bool
	place                 []int32 // of the first token of every part, in its sequence
	leaf                  []int32 // the part in which every sequence ends

	logP, entropy   []float32
	dLogP, dEntropy []float32

	b     *Batch
	lo    int     // the first sequence
	order []int32 // the sequences, those that begin alike side by side
	alike []int32 // alike[i] is in how many tokens order[i] begins like order[i-1]
}

// build lays out the sequences lo to hi of b.
func (t *tree) build(b *Batch, lo, hi int) {
	t.b, t.lo = b, lo
	t.tokens, t.starts, t.after, t.need = t.tokens[:0], append(t.starts[:0], 0), t.after[:0], t.need[:0]
	t.place, t.leaf = t.place[:0], t.leaf[:0]
	t.order, t.alike = t.order[:0], t.alike[:0]
	for s := lo; s < hi; s++ {
		t.order, t.alike, t.leaf = append(t.order, int32(s)), append(t.alike, 0), append(t.leaf, -1)
	}
	// Sequences without a neighbour that begins alike stay where they are.
	for i, n := 0, hi-lo; i < n; {
		end := i + 1
		for end < n && b.alike(lo+end-1, lo+end) >= minShared {
			end++
		}
		slices.SortFunc(t.order[i:end], b.compare)
		for k := i + 1; k < end; k++ {
			t.alike[k] = int32(b.alike(int(t.order[k-1]), int(t.order[k])))
		}
		t.grow(i, end, 0, -1)
		i = end
	}
	n := len(t.tokens)
	t.logP, t.entropy = resize(t.logP, n), resize(t.entropy, n)
}

// grow adds the sequences order[i:end] from a place on, after a part that all
// of them go through up to there.
func (t *tree) grow(i, end, place int, after int32) {
	first := int(t.order[i])
	if end == i+1 {
		t.leaf[first-t.lo] = after
		if n := t.b.length(first); n > place {
			t.leaf[first-t.lo] = t.part(first, place, n, after)
		}
		return
	}
	common := int(slices.Min(t.alike[i+1 : end]))
	if common == t.b.length(int(t.order[end-1])) {
		// The last is the longest of those that begin alike: all are equal.
		leaf := t.part(first, place, common, after)
		for _, s := range t.order[i:end] {
			t.leaf[int(s)-t.lo] = leaf
		}
		return
	}
	// The log-probability of a token comes from the part of the token before
	// it, so that none may be wanted of the first token of a part.
	cut := min(common, t.b.length(first)-1)
	for cut > 0 && t.b.Need[int(t.b.Starts[first])+cut] {
		cut--
	}
	if cut-place >= minShared {
		after = t.part(first, place, cut, after)
		place = cut
	}
	from := i
	for k := i + 1; k <= end; k++ {
		if k == end || int(t.alike[k]) == common {
			t.grow(from, k, place, after)
			from = k
		}
	}
}

// part adds the tokens from place to end of sequence s and returns its number.
func (t *tree) part(s, place, end int, after int32) int32 {
	lo := int(t.b.Starts[s])
	t.tokens = append(t.tokens, t.b.Tokens[lo+place:lo+end]...)
	t.need = append(t.need, t.b.Need[lo+place:lo+end]...)
	t.starts = append(t.starts, int32(len(t.tokens)))
	t.after = append(t.after, after)
	t.place = append(t.place, int32(place))
	return int32(len(t.after) - 1)
}

// parts calls f for every part of every sequence, with the place of its first
// token in the batch and its range in the tree.
func (t *tree) parts(f func(at, lo, hi int)) {
	for i, p := range t.leaf {
		for ; p >= 0; p = t.after[p] {
			f(int(t.b.Starts[t.lo+i]+t.place[p]), int(t.starts[p]), int(t.starts[p+1]))
		}
	}
}

// give copies log-probabilities and entropies to all sequences of the batch.
func (t *tree) give() {
	t.parts(func(at, lo, hi int) {
		copy(t.b.LogP[at:], t.logP[lo:hi])
		copy(t.b.Entropy[at:], t.entropy[lo:hi])
	})
}

// take adds up the gradients of the sequences: what is shared gets those of all.
func (t *tree) take() {
	n := len(t.tokens)
	t.dLogP, t.dEntropy = resize(t.dLogP, n), resize(t.dEntropy, n)
	clear(t.dLogP)
	clear(t.dEntropy)
	t.parts(func(at, lo, hi int) {
		for i := lo; i < hi; i++ {
			if t.need[i] {
				t.dLogP[i] += t.b.DLogP[at+i-lo]
				t.dEntropy[i] += t.b.DEntropy[at+i-lo]
			}
		}
	})
}

func resize(s []float32, n int) []float32 { return slices.Grow(s[:0], n)[:n] }

// length is the number of tokens of sequence s.
func (b *Batch) length(s int) int { return int(b.Starts[s+1] - b.Starts[s]) }

// alike is in how many tokens, and in what is wanted of them, two sequences
// begin alike.
func (b *Batch) alike(s, r int) int {
	i, j := int(b.Starts[s]), int(b.Starts[r])
	n := min(b.length(s), b.length(r))
	for k := range n {
		if b.Tokens[i+k] != b.Tokens[j+k] || b.Need[i+k] != b.Need[j+k] {
			return k
		}
	}
	return n
}

// compare orders sequences so that each stands beside those with which it has
// most in common.
func (b *Batch) compare(s, r int32) int {
	k := b.alike(int(s), int(r))
	switch m, n := b.length(int(s)), b.length(int(r)); {
	case k < m && k < n:
		i, j := int(b.Starts[s])+k, int(b.Starts[r])+k
		if b.Tokens[i] != b.Tokens[j] {
			return int(b.Tokens[i]) - int(b.Tokens[j])
		}
		if b.Need[i] {
			return 1
		}
		return -1
	case m != n:
		return m - n
	}
	return int(s - r)
}
