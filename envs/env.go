package envs

import (
	"context"
	"errors"
)

// Env is one live instance of an environment type. It plays one episode at a
// time: Reset, then Step until an Outcome ends it, then Reset again or Close.
//
// Calls on one Env never overlap: the server holds a lock around them. Two
// Envs of one Type may run at the same time, so state they share must be
// immutable or guarded.
//
// Whatever the agent causes (garbage, a wrong answer, a crash of its own code,
// a timeout of its own code) is an ordinary Outcome. An error means that our
// side broke; the server then records reward null and status failed. Every
// method returns promptly once ctx is cancelled.
type Env interface {
	// Reset starts an episode of start.Task and returns the first observation.
	// Equal starts give equal bytes.
	Reset(ctx context.Context, start Start) (Observation, error)
	// Step applies one action. The server never calls it before Reset or
	// after an Outcome with Terminated; an Env answers ErrOver if it does.
	Step(ctx context.Context, a Action) (Outcome, error)
	// Score grades the current state as it stands and ends the episode. The
	// server calls it when a limit or the client ends an episode early. It
	// returns the last Outcome, with Grade set and Terminated false.
	Score(ctx context.Context) (Outcome, error)
	// Close releases everything the Env holds. It may be called at any time
	// and more than once.
	Close() error
}

// Forker is implemented by an Env whose state can be copied.
type Forker interface {
	// Fork returns an independent Env in the identical state.
	Fork(ctx context.Context) (Env, error)
}

// Start is what an episode starts from.
type Start struct {
	Task   Task
	Seed   int64  // feeds whatever is random in the dynamics; the task is fixed by Task
	Limits Limits // the limits in force, for texts that mention them and for output caps
}

// ErrOver is returned by Step and Score after the episode's end.
var ErrOver = errors.New("envs: episode is over")

// ErrNotReset is returned by Step and Score before the first Reset.
var ErrNotReset = errors.New("envs: reset required")

// ErrUnavailable wraps errors that mean the environment cannot run on this
// machine at all, such as a missing sandbox. The server answers 503.
var ErrUnavailable = errors.New("envs: unavailable on this machine")
