package sandbox

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// ErrInfra is what every failure of the sandbox itself is to errors.Is.
var ErrInfra = errors.New("sandbox: internal failure")

// ErrUnavailable means that this machine cannot confine code as asked; the
// error that wraps it says what to change.
var ErrUnavailable = errors.New("sandbox: not available on this machine")

// ErrInterpreter means that the interpreter is what is wrong: an ErrUnavailable
// that another one would mend.
var ErrInterpreter = fmt.Errorf("%w: no usable python3", ErrUnavailable)

// ErrClosed is returned by a closed Pool.
var ErrClosed = errors.New("sandbox: pool is closed")

// Mode says how children are confined.
type Mode string

// The modes. Namespaces without a cgroup has resource limits and tmpfs caps
// only, which bound a process each but not a tree's memory.
const (
	ModeCgroup2    Mode = "namespaces+cgroup2"
	ModeCgroup1    Mode = "namespaces+cgroup1"
	ModeNamespaces Mode = "namespaces"
	// ModeNone confines nothing but resource limits. Agent code can read and
	// change whatever the server can. It exists for demonstrations.
	ModeNone Mode = "none-UNSAFE"
)

// Safe reports whether children are confined.
func (m Mode) Safe() bool { return m != ModeNone && m != "" }

// Config configures a Pool. The zero value is a confined pool with defaults.
type Config struct {
	// Python is the interpreter: a path, a name on PATH, or empty for the
	// first of python3 on PATH and /usr/bin/python3 that has pytest.
	Python string
	// Mode is ModeNone to give up confinement, else empty: the best there is.
	Mode Mode
	// Hide lists files and folders that must not be visible in a child even
	// if they lie under a folder the interpreter needs. The running program
	// is always hidden.
	Hide []string
	// CallChildren and PytestChildren are how many children of each kind are
	// kept ready; default 4 and 2.
	CallChildren, PytestChildren int
	// NoPrefault leaves out touching a child's memory while it waits. That
	// lowers the load of a busy machine and raises latency.
	NoPrefault bool
	// Limits apply where a job names none.
	Limits Limits
	// Log receives life-cycle messages; nil discards them.
	Log *slog.Logger
	// Observe, if not nil, is called after every job; it must be quick.
	Observe func(Event)
}

// Event describes one finished job to an observer.
type Event struct {
	Job     string // "calls", "pytest", "proxied"
	Mode    Mode
	Fault   Fault
	Infra   bool // failed for a reason of ours
	Queued  time.Duration
	Usage   Usage
	Retries int // after a lost interpreter
}

// Stats are counts of a pool at one moment.
type Stats struct {
	Ready map[string]int // by kind of child
	Live  map[string]int
	PIDs  []int // of the warm interpreters
}
