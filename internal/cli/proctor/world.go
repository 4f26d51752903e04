package proctor

import (
	"errors"
	"flag"

	"github.com/proctor-rl/proctor/envs/all"
)

// worldFlags are the flags of every command that plays in generated worlds. Two
// commands that are to see the same tasks need the same ones.
func worldFlags(fs *flag.FlagSet, o *all.Options) {
	fs.Uint64Var(&o.WorldSeed, "world-seed", 0, "moves every generated world of the react types; choose a large one where the tasks are to be a secret")
	fs.IntVar(&o.WorldSize, "world-size", 0, "countries in a world of \"react\", 2 to 80, 0 for its own")
}

// checkWorld says what is wrong with the flags.
func checkWorld(o all.Options) error {
	if o.WorldSize != 0 && (o.WorldSize < 2 || o.WorldSize > 80) {
		return errors.New("--world-size wants 2 to 80, or 0 for the type's own")
	}
	return nil
}
