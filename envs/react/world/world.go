package world

import (
	"math/rand/v2"
)

// Style is how a world is written down.
type Style string

// The styles.
const (
	Compact Style = "compact" // one line of facts a page
	Prose   Style = "prose"   // paragraphs from several templates, with asides
)

// Config describes a world.
type Config struct {
	Seed      uint64
	Pool      Pool
	Countries int
	Style     Style
}

// entity is one thing of the world.
type entity struct {
	kind    Kind
	name    string
	targets []int // per relation of its kind: index of an entity, none where nothing is told
	numbers []int // per attribute of its kind
	home    int   // the country it belongs to
	towns   []int // of a country: all its towns
}

// none is the target of a relation that an entity's page does not tell of.
const none = -1

// World is one invented world. It is immutable.
type World struct {
	cfg      Config
	entities []entity
	byKind   [kinds][]int
}

// New invents the world of a configuration. Equal configurations give equal
// worlds.
func New(cfg Config) *World {
	w := &World{cfg: cfg}
	rng := rand.New(rand.NewPCG(cfg.Seed, uint64(cfg.Pool)+0x5eed))
	b := builder{w: w, rng: rng, names: &namer{rng: rng, pool: cfg.Pool, taken: map[string]bool{}}}
	for range cfg.Countries {
		b.country()
	}
	for i := range w.entities {
		b.relate(i)
	}
	return w
}

type builder struct {
	w     *World
	rng   *rand.Rand
	names *namer
	home  int

	families []string // family names in use
}

// add makes an entity with its numbers and without its relations.
func (b *builder) add(k Kind) int {
	e := entity{kind: k, name: b.title(k), home: b.home, targets: make([]int, len(schema[k].relations))}
	for _, a := range schema[k].attributes {
		e.numbers = append(e.numbers, a.lo+b.rng.IntN(a.hi-a.lo+1))
	}
	i := len(b.w.entities)
	b.w.entities = append(b.w.entities, e)
	b.w.byKind[k] = append(b.w.byKind[k], i)
	return i
}

// relate decides which relations the page of entity i tells of. In prose these
// are the few that it was built with. In compact style there are two or three
// of many; only what belongs to the first country keeps all that it was built
// with, so that every world has every held-out composition somewhere.
func (b *builder) relate(i int) {
	e := &b.w.entities[i]
	spec := schema[e.kind].relations
	tell := make([]bool, len(spec))
	want := 0
	if b.w.cfg.Style == Compact {
		want = 2 + b.rng.IntN(2)
	}
	told := 0
	for j, r := range spec {
		if !r.more && (b.w.cfg.Style == Prose || e.home == 0) {
			tell[j] = true
			told++
		}
	}
	for _, j := range b.rng.Perm(len(spec)) {
		if told < want && !tell[j] {
			tell[j] = true
			told++
		}
	}
	for j, r := range spec {
		switch {
		case !tell[j]:
			e.targets[j] = none
		case r.more:
			e.targets[j] = b.other(r.to, i)
		}
	}
}

// other is an entity of kind k that is not i.
func (b *builder) other(k Kind, i int) int {
	all := b.w.byKind[k]
	j := b.rng.IntN(len(all))
	if all[j] == i {
		j = (j + 1) % len(all)
	}
	return all[j]
}

// title is a new name. In prose persons have a family name that others share,
// and firms and books have names of several words, so that parts of a title
// lead to more than one page.
func (b *builder) title(k Kind) string {
	name := b.names.draw()
	if b.w.cfg.Style != Prose {
		return name
	}
	switch k {
	case Person:
		if len(b.families) < 12 {
			b.families = append(b.families, b.names.draw())
		}
		return name + " " + b.families[b.rng.IntN(len(b.families))]
	case Firm:
		return name + " " + []string{"Works", "Mills", "Trading", "Foundry"}[b.rng.IntN(4)]
	case Book:
		return "The " + name + " " + []string{"Letters", "Papers", "Songs", "Affair"}[b.rng.IntN(4)]
	default:
		return name
	}
}

func (b *builder) country() {
	c := b.add(Country)
	b.home = c
	b.w.entities[c].home = c
	// One town in compact style is a bystander; prose counts towns.
	n := 2
	if b.w.cfg.Style == Prose {
		n = 2 + b.rng.IntN(4)
	}
	var towns []int
	for range n {
		towns = append(towns, b.town())
	}
	e := &b.w.entities[c]
	e.towns = towns
	capital := towns[b.rng.IntN(n)]
	president, river := b.person(), b.add(River)
	copy(b.w.entities[c].targets, []int{capital, president, river})
}

func (b *builder) town() int {
	t := b.add(Town)
	mayor, firm := b.person(), b.add(Firm)
	founder := b.person()
	b.w.entities[firm].targets[0] = founder
	copy(b.w.entities[t].targets, []int{mayor, firm})
	return t
}

func (b *builder) person() int {
	p := b.add(Person)
	book := b.add(Book)
	b.w.entities[p].targets[0] = book
	return p
}
