package react

import (
	"errors"
	"fmt"

	"github.com/proctor-rl/proctor/envs/react/world"
)

// Options make an environment type of the generated world.
type Options struct {
	Name  string
	Style world.Style
	// Countries is the size of a world: compact has 19 pages a country, prose
	// about 26.
	Countries int
	// TasksPerWorld is how many questions are asked about one world. Few, and
	// a policy cannot learn names by heart.
	TasksPerWorld int
	Train         int // tasks of the split
	Validation    int // half of them of slice seen, half unseen
	Test          int // the same
	Mix           world.Mix
	// Shaped adds the process part "calculator" to the reward. The grade never
	// counts it.
	Shaped bool
	// Seed moves every world, so that an operator can hold worlds that nobody
	// else can generate.
	Seed uint64
	// UserTasks are played beside the generated ones, under split user.
	UserTasks []UserTask
}

// Compact is the type that a small policy trains on: pages of one line, and
// three fresh tasks a world, so that names are always new.
func Compact() Options {
	return Options{
		Name: "react-compact", Style: world.Compact, Countries: 3, TasksPerWorld: 4,
		Train: 200_000, Validation: 4000, Test: 8000,
		Mix: world.Mix{Hop1: 20, Hop2: 25, Hop3: 20, Arith2: 20, Arith3: 15},
	}
}

// Mini is Compact with one- and two-page chains and arithmetic on two numbers:
// what a policy without demonstrations can find out.
func Mini() Options {
	o := Compact()
	o.Name = "react-mini"
	o.Mix = world.Mix{Hop1: 30, Hop2: 40, Arith2: 30}
	return o
}

// MiniShaped is Mini with the process part of the reward.
func MiniShaped() Options {
	o := Mini()
	o.Name, o.Shaped = "react-mini-shaped", true
	return o
}

// Prose is the type for language models: a world of several hundred short
// documents, every form of question.
func Prose() Options {
	return Options{
		Name: "react", Style: world.Prose, Countries: 18, TasksPerWorld: 500,
		Train: 20_000, Validation: 1000, Test: 4000,
		Mix: world.Mix{Hop1: 10, Hop2: 20, Hop3: 25, Arith2: 15, Arith3: 10, Comparison2: 10, Count: 10},
	}
}

func (o Options) compact() bool { return o.Style == world.Compact }

// similar is how many titles a search that found no page names.
func (o Options) similar() int {
	if o.compact() {
		return 3
	}
	return 5
}

// validate reports what cannot be served.
func (o Options) validate() error {
	switch {
	case o.Name == "":
		return errors.New("no name")
	case o.Style != world.Compact && o.Style != world.Prose:
		return fmt.Errorf("style %q is neither compact nor prose", o.Style)
	case o.Countries < 2 || o.Countries > 80:
		return fmt.Errorf("%d countries: want 2 to 80", o.Countries)
	case o.TasksPerWorld < 1:
		return fmt.Errorf("%d tasks per world: want at least 1", o.TasksPerWorld)
	case o.Train < 1 || o.Validation < 1 || o.Test < 1:
		return errors.New("a split is empty")
	case o.Style == world.Compact && o.Mix.Count > 0:
		return errors.New("compact pages do not list towns: the mix must have no count questions")
	case o.Mix.Hop2+o.Mix.Hop3+o.Mix.Arith2+o.Mix.Arith3 < 1:
		return errors.New("the mix has no question that can be of slice unseen")
	}
	for _, n := range []int{o.Mix.Hop1, o.Mix.Hop2, o.Mix.Hop3, o.Mix.Arith2, o.Mix.Arith3, o.Mix.Comparison2, o.Mix.Count} {
		if n < 0 {
			return errors.New("a weight of the mix is negative")
		}
	}
	return nil
}
