package store_test

import (
	"math"
	"testing"

	"github.com/proctor-rl/proctor/api"
)

// What cannot be kept of an episode, such as steps that are no JSON or too long
// for a row, must not leave it running for ever: it ended, and we lost how.
func TestWhatCannotBeRecordedHasFailed(t *testing.T) {
	s := open(t, t.TempDir())
	s.Started(record("ep1", api.StatusRunning, 0))
	bad := record("ep1", api.StatusTerminated, 2)
	nan := math.NaN()
	bad.Steps[1].Reward = &nan
	s.Ended(bad)
	s.Ended(record("ep2", api.StatusTerminated, 2)) // of the same batch
	got, err := s.Episode(t.Context(), "ep1")
	if err != nil {
		t.Fatal(err)
	}
	if got.Episode.Status != api.StatusFailed || got.Episode.Return != nil {
		t.Errorf("it is %s with return %v", got.Episode.Status, got.Episode.Return)
	}
	if got, err := s.Episode(t.Context(), "ep2"); err != nil || got.Episode.Status != api.StatusTerminated {
		t.Errorf("its neighbour: %v %v", got.Episode.Status, err)
	}
}
