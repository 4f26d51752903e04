package envs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNoTask means that a task id or index names no task.
var ErrNoTask = errors.New("envs: no such task")

// ErrNoType means that a name names no registered type.
var ErrNoType = errors.New("envs: no such environment type")

// Registry holds the environment types that a process serves. Fill it at
// start-up; reading it concurrently is then safe. The zero value is empty.
type Registry struct {
	types []Type
}

// Register adds t. It panics if the name is taken or empty, which is a
// programming error.
func (r *Registry) Register(t Type) {
	name := t.Spec().Name
	if name == "" {
		panic("envs: type without a name")
	}
	if _, err := r.Get(name); err == nil {
		panic("envs: duplicate type " + name)
	}
	r.types = append(r.types, t)
	slices.SortFunc(r.types, func(a, b Type) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
}

// Get is the type of a name, or an error that wraps ErrNoType and lists those
// that there are.
func (r *Registry) Get(name string) (Type, error) {
	for _, t := range r.types {
		if t.Spec().Name == name {
			return t, nil
		}
	}
	have := make([]string, len(r.types))
	for i, t := range r.types {
		have[i] = t.Spec().Name
	}
	return nil, fmt.Errorf("%w: %q; have %s", ErrNoType, name, strings.Join(have, ", "))
}

// Types lists the types by name. The slice is the caller's.
func (r *Registry) Types() []Type { return slices.Clone(r.types) }
