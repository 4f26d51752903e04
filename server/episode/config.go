package episode

import (
	"context"
	"log/slog"
	"runtime"
	"time"

	"github.com/proctor-rl/proctor/api"
)

// Config bounds a Manager. The zero value takes the defaults.
type Config struct {
	MaxEnvs         int   // live envs in all, default 4096
	MaxEnvsPerOwner int   // default MaxEnvs
	MaxConcurrent   int   // envs that run at one time, default 32 a core
	MaxHeldBytes    int64 // of the records of one owner's running episodes and snapshots, default 1 GiB
	DefaultTTL      time.Duration
	MaxTTL          time.Duration
	StepTimeout     time.Duration // the longest one step may take before our side counts as broken
	ResetTimeout    time.Duration
	GradeTimeout    time.Duration
	HangGrace       time.Duration // how long an env that ignores its deadline is waited for
	Now             func() time.Time
	Log             *slog.Logger
}

func (c Config) withDefaults() Config {
	def := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	dur := func(p *time.Duration, v time.Duration) {
		if *p <= 0 {
			*p = v
		}
	}
	def(&c.MaxEnvs, 4096)
	def(&c.MaxEnvsPerOwner, c.MaxEnvs)
	if c.MaxHeldBytes <= 0 {
		c.MaxHeldBytes = 1 << 30
	}
	def(&c.MaxConcurrent, 32*runtime.GOMAXPROCS(0))
	dur(&c.DefaultTTL, 30*time.Minute)
	dur(&c.MaxTTL, 24*time.Hour)
	dur(&c.StepTimeout, 2*time.Minute)
	dur(&c.ResetTimeout, time.Minute)
	dur(&c.GradeTimeout, 2*time.Minute)
	dur(&c.HangGrace, 2*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Record is everything kept of an episode. Steps of an ended one never change.
type Record struct {
	Owner   string
	Episode api.Episode
	Reset   api.Observation
	Steps   []api.Step
	// Unplayed says that the last step's action came too late to be played:
	// its result is a grading alone.
	Unplayed bool
}

// Recorder keeps episodes. Its methods may block for a short while when it is
// behind; they are never called on the path of a step that does not end one.
type Recorder interface {
	// Started takes an episode at its reset, without steps.
	Started(Record)
	// Ended takes an ended episode. The record is the recorder's from then on.
	Ended(Record)
}

// Keeper is a Recorder that keeps what it takes a moment later. A step that
// ends an episode is answered after it, so that what a client was told is what is
// recorded even if the server is killed.
type Keeper interface {
	// Kept returns once all that was taken before is kept, or cannot be for now,
	// or ctx ends.
	Kept(ctx context.Context)
}

// keepWait bounds the wait for a Keeper. A disk that takes longer is a reason
// to worry, but none to let a client wait.
const keepWait = 2 * time.Second

// Boundary says which of our parts broke.
type Boundary string

// The boundaries at which our side can break.
const (
	BoundaryCreate Boundary = "create"
	BoundaryReset  Boundary = "reset"
	BoundaryStep   Boundary = "step"
	BoundaryGrade  Boundary = "grade"
	BoundaryPanic  Boundary = "panic"
	BoundaryHang   Boundary = "hang"
)

// Observer takes measurements. Its methods must not block.
type Observer interface {
	// Stepped reports the phases of one step.
	Stepped(envType string, queue, exec, grade time.Duration)
	// Ended reports an episode's end; its return is nil where nothing was measured.
	Ended(ep *api.Episode)
	// Broke reports that our side failed.
	Broke(envType string, at Boundary)
	// Live reports the number of live envs of a type after a change.
	Live(envType string, n int)
}

// Who asks. An owner sees its own envs and episodes; All sees everybody's.
type Who struct {
	Owner string
	All   bool
}

type nop struct{}

func (nop) Started(Record)                                                 {}
func (nop) Ended(Record)                                                   {}
func (nopObs) Stepped(string, time.Duration, time.Duration, time.Duration) {}
func (nopObs) Ended(*api.Episode)                                          {}
func (nopObs) Broke(string, Boundary)                                      {}
func (nopObs) Live(string, int)                                            {}

type nopObs struct{}
