// Package all is the only list of environment types.
//
// Whoever serves or plays environments calls Register with its options. No
// type registers itself.
package all

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/codefix"
	"github.com/proctor-rl/proctor/envs/codefix/grammar"
	"github.com/proctor-rl/proctor/envs/react"
)

// Options say what is served. The zero value is what serve does by default.
type Options struct {
	// TasksDir is a folder of tasks that a user brings, one folder of *.json
	// for each environment type. Empty for none.
	TasksDir string
	// WorldSeed moves every generated world.
	WorldSeed uint64
	// WorldSize is the number of countries in a prose world, 0 for the default.
	WorldSize int
	// Runner runs agent code for the code environments. Without one they are
	// listed and refuse to start, for the reason NoRunner.
	Runner   codefix.Runner
	NoRunner error
	// Interpret lets programs of the grammar be run by its interpreter instead
	// of the Runner, which still gets everything else.
	Interpret bool
	// Naive also registers the code environment that can be gamed.
	Naive bool
}

// Register adds every environment type to r. The error names each of the
// user's files that does not fit, one a line, or what is wrong with the options.
func Register(r *envs.Registry, o Options) error {
	var read []string
	return errors.Join(registerReact(r, o, &read), registerCode(r, o, &read), checkFolder(o.TasksDir, read))
}

// checkFolder refuses a folder of tasks that is not there, and tasks in folders
// that no type has read: both are mostly a misspelt name.
func checkFolder(dir string, read []string) error {
	if dir == "" {
		return nil
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is no folder of tasks", dir)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if err != nil {
		return fmt.Errorf("list tasks: %w", err)
	}
	var bad []error
	seen := map[string]bool{}
	for _, f := range files {
		folder := filepath.Dir(f)
		if name := filepath.Base(folder); !seen[name] && !slices.Contains(read, name) {
			bad = append(bad, fmt.Errorf("%s: no environment type takes tasks from this folder; have %s", folder, strings.Join(slices.Compact(read), ", ")))
			seen[name] = true
		}
	}
	return errors.Join(bad...)
}

func registerReact(r *envs.Registry, o Options, read *[]string) error {
	prose := react.Prose()
	if o.WorldSize > 0 {
		prose.Countries = o.WorldSize
	}
	var bad []error
	add := func(name string, build func([]react.UserTask) (*react.Type, error)) {
		*read = append(*read, name)
		var tasks []react.UserTask
		if o.TasksDir != "" {
			var err error
			if tasks, err = react.LoadUserTasks(filepath.Join(o.TasksDir, name)); err != nil {
				bad = append(bad, err)
				return
			}
		}
		t, err := build(tasks)
		if err != nil {
			bad = append(bad, fmt.Errorf("register: %w", err))
			return
		}
		r.Register(t)
	}
	for _, opt := range []react.Options{prose, react.Compact(), react.Mini(), react.MiniShaped()} {
		opt.Seed = o.WorldSeed
		add(opt.Name, func(tasks []react.UserTask) (*react.Type, error) {
			opt.UserTasks = tasks
			return react.New(opt)
		})
	}
	add("react-almanac", react.NewAlmanac)
	return errors.Join(bad...)
}

func registerCode(r *envs.Registry, o Options, read *[]string) error {
	base := codefix.Options{Runner: o.Runner, Unavailable: o.NoRunner}
	var bad []error
	add := func(folder string, opt codefix.Options, build func(codefix.Options) (*codefix.Type, error)) {
		if o.TasksDir != "" && folder != "" {
			*read = append(*read, folder)
			tasks, err := codefix.LoadDir(filepath.Join(o.TasksDir, folder))
			if err != nil {
				bad = append(bad, err)
				return
			}
			opt.UserTasks = tasks
		}
		t, err := build(opt)
		if err != nil {
			bad = append(bad, fmt.Errorf("register: %w", err))
			return
		}
		r.Register(t)
	}
	add(codefix.Name, base, codefix.New)
	terse := base
	terse.Compact = true
	add("", terse, codefix.New)
	small := base
	if o.Interpret && o.Runner != nil {
		small.Runner = grammar.Interpreter{Next: o.Runner}
	}
	add("", small, grammar.New)
	add("", base, codefix.NewQuixBugs)
	if o.Naive {
		naive := base
		naive.Naive = true
		add(codefix.Name, naive, codefix.New)
	}
	return errors.Join(bad...)
}
