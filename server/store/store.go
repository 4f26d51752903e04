// Package store keeps ended and started episodes, their steps, and the curves
// that trainers push, in an embedded SQLite file.
//
// Writing is off the step path: Started and Ended only queue, and one recorder
// goroutine commits in batches. Reading waits until everything queued before
// it is committed, so a caller reads what it wrote. Package server reads and
// writes through it; it decides nothing about episodes and checks no owner
// beyond the filter it is given.
package store

import (
	"context"
	"errors"

	"github.com/proctor-rl/proctor/api"
)

// ErrNotFound means that an id names nothing kept here.
var ErrNotFound = errors.New("store: not found")

// ErrFull means that an owner keeps as much of something as it may.
var ErrFull = errors.New("store: full")

// Record is everything kept of an episode.
type Record struct {
	Owner    string
	Episode  api.Episode
	Reset    api.Observation
	Steps    []api.Step
	Unplayed bool // the last step's action was not played, only graded
}

// Filter selects episodes. Zero fields select all.
type Filter struct {
	Owner   string // empty for everybody's
	Only    string // an owner as well: the one that is asked for, of those that may be read
	Type    string
	TaskID  string
	GroupID string
	Status  string
	Before  int64 // only entries older than this sequence number, 0 for all
	Limit   int
}

// Entry is an episode in a list.
type Entry struct {
	Seq     int64
	Owner   string
	Episode api.Episode
}

// Store keeps episodes and runs. It is safe for concurrent use.
type Store interface {
	// Started queues an episode that has just begun. It blocks while the
	// recorder is far behind.
	Started(Record)
	// Ended queues an ended episode with its steps.
	Ended(Record)
	// Sync waits until all that was queued before is committed.
	Sync(ctx context.Context) error
	// Episodes lists episodes, newest first.
	Episodes(ctx context.Context, f Filter) ([]Entry, error)
	// Episode reads one with its steps, or ErrNotFound.
	Episode(ctx context.Context, id string) (Record, error)
	// AddRun keeps a run, or gives ErrFull where its owner has MostRuns.
	AddRun(ctx context.Context, owner string, r api.Run) error
	// DropRun forgets a run and its curve, or gives ErrNotFound. An empty owner
	// drops anybody's.
	DropRun(ctx context.Context, owner, runID string) error
	// AddPoints adds to a run's curve and says whose it is, or ErrNotFound. A
	// curve that gets too long is thinned out.
	AddPoints(ctx context.Context, owner, runID string, ps []api.Point) (whose string, err error)
	// Runs lists runs, newest first. An empty owner sees everybody's.
	Runs(ctx context.Context, owner string) ([]api.Run, error)
	// Points is at most limit points of a run's curve after an update, and
	// whether there are more, or ErrNotFound.
	Points(ctx context.Context, owner, runID string, after int64, limit int) (ps []api.Point, more bool, err error)
	// Close commits what is queued and closes the file.
	Close() error
}
