// Package all is the only list of environment types.
//
// Whoever serves or plays environments calls Register with its options. No
// type registers itself.
package all

import (
	"fmt"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/react"
)

// Options say what is served. The zero value is what serve does by default.
type Options struct {
	// TasksDir is a folder of tasks that a user brings: react/*.json and
	// codefix/*.json. Empty for none.
	TasksDir string
	// WorldSeed moves every generated world.
	WorldSeed uint64
	// WorldSize is the number of countries in a prose world, 0 for the default.
	WorldSize int
}

// Register adds every environment type to r. An error names the user's file
// that does not fit, or what is wrong with the options.
func Register(r *envs.Registry, o Options) error {
	prose := react.Prose()
	if o.WorldSize > 0 {
		prose.Countries = o.WorldSize
	}
	for _, opt := range []react.Options{prose, react.Compact(), react.Mini(), react.MiniShaped()} {
		opt.Seed = o.WorldSeed
		t, err := react.New(opt)
		if err != nil {
			return fmt.Errorf("register: %w", err)
		}
		r.Register(t)
	}
	return nil
}
