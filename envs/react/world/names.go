package world

import (
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// Pool says which names a world may use. The names of two pools never meet.
type Pool int

// The pools, one a split.
const (
	Train Pool = iota
	Validation
	Test
)

var (
	onsets = strings.Fields("b d f g h k l m n p r s t v z br dr gl kr pl st tr")
	vowels = strings.Fields("a e i o u")
)

// PoolOf is the pool of a name: three names in four are for training.
func PoolOf(name string) Pool {
	h := fnv.New32a()
	h.Write([]byte(strings.ToLower(name))) // a hash never fails to write
	switch h.Sum32() % 8 {
	case 0:
		return Test
	case 1:
		return Validation
	}
	return Train
}

// namer draws names of one pool, each once.
type namer struct {
	rng   *rand.Rand
	pool  Pool
	taken map[string]bool
}

func (n *namer) draw() string {
	for {
		name := syllables(n.rng, 2+n.rng.IntN(3)/2)
		if !n.taken[name] && PoolOf(name) == n.pool {
			n.taken[name] = true
			return name
		}
	}
}

// Name draws some name of any pool, for a player who invents one.
func Name(rng *rand.Rand) string { return syllables(rng, 2+rng.IntN(3)/2) }

func syllables(rng *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(onsets[rng.IntN(len(onsets))])
		b.WriteString(vowels[rng.IntN(len(vowels))])
	}
	s := b.String()
	return strings.ToUpper(s[:1]) + s[1:]
}
