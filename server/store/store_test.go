package store_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, dir string) *store.SQLite {
	t.Helper()
	s, err := store.Open(context.Background(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func record(id string, status api.Status, steps int) store.Record {
	one := 1.0
	n := 5
	r := store.Record{Owner: "me", Episode: api.Episode{
		EpisodeID: id, EnvID: "env", Owner: "me", Type: "toy", Version: "1.0.0", TaskID: "t", Split: "train", Seed: 1 << 60, Status: status,
		GroupID: "g", StartedAt: time.Unix(1000, 0).UTC(), Steps: steps, Return: &one, Limits: api.Limits{MaxSteps: &n},
	}, Reset: api.Observation{Text: "begin", Messages: []api.Message{}, Data: []byte("null")}}
	for i := range steps {
		r.Steps = append(r.Steps, api.Step{
			Step: i, Action: []byte(`"é \u0000"`), Reward: &one, RewardParts: []api.RewardPart{}, Status: api.StatusRunning,
			Observation: api.Observation{Text: "o", Messages: []api.Message{}, Data: []byte(`{"k":1}`)},
		})
	}
	return r
}

func TestReadsWhatItWrote(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := t.Context()
	want := record("ep1", api.StatusTerminated, 3)
	s.Started(record("ep1", api.StatusRunning, 0))
	s.Ended(want)
	got, err := s.Episode(ctx, "ep1")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	// An ended episode never changes: neither a late start nor a second end.
	s.Started(record("ep1", api.StatusRunning, 0))
	s.Ended(record("ep1", api.StatusFailed, 9))
	if got, err = s.Episode(ctx, "ep1"); err != nil || got.Episode.Status != api.StatusTerminated {
		t.Errorf("an ended episode changed to %s: %v", got.Episode.Status, err)
	}
	if _, err := s.Episode(ctx, "nope"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestPagesAndFilters(t *testing.T) {
	s := open(t, "")
	for i := range 25 {
		r := record(fmt.Sprintf("ep%02d", i), api.StatusTerminated, 1)
		if i%5 == 0 {
			r.Owner, r.Episode.Type, r.Episode.TaskID, r.Episode.GroupID = "you", "other", "u", ""
		}
		s.Ended(r)
	}
	f := store.Filter{Owner: "me", Type: "toy", TaskID: "t", GroupID: "g", Status: "terminated", Limit: 7}
	var got []string
	for {
		page, err := s.Episodes(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			got = append(got, e.Episode.EpisodeID)
		}
		f.Before = page[len(page)-1].Seq
	}
	if len(got) != 20 || got[0] != "ep24" || got[19] != "ep01" {
		t.Errorf("got %v", got)
	}
}

// What a killed server left running is failed and unmeasured at the next
// start, and not lost.
func TestAdoptsWhatWasLeftRunning(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	s.Started(record("ep1", api.StatusRunning, 0))
	if err := s.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	reader, err := store.OpenReadOnly(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := reader.Episode(t.Context(), "ep1"); err != nil || got.Episode.Status != api.StatusRunning {
		t.Errorf("beside the server: %v %v", got.Episode.Status, err)
	}
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
	s = open(t, dir) // the first one is as good as killed: its episode never ended
	got, err := s.Episode(t.Context(), "ep1")
	if err != nil || got.Episode.Status != api.StatusFailed || got.Episode.Return != nil {
		t.Errorf("got %+v %v", got.Episode, err)
	}
}

func TestClosingCommitsTheQueue(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for i := range 300 {
		s.Ended(record(fmt.Sprint(i), api.StatusClosed, 2))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.Ended(record("late", api.StatusClosed, 0)) // no panic, no record
	s = open(t, dir)
	es, err := s.Episodes(t.Context(), store.Filter{Limit: 1000})
	if err != nil || len(es) != 300 {
		t.Errorf("%d episodes, %v", len(es), err)
	}
}

func TestRuns(t *testing.T) {
	s := open(t, "")
	ctx := t.Context()
	if err := s.AddRun(ctx, "me", api.Run{RunID: "r", Name: "n"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddPoints(ctx, "you", "r", []api.Point{{Update: 1}}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a foreign run took points: %v", err)
	}
	if _, err := s.AddPoints(ctx, "me", "r", []api.Point{{Update: 2, Values: map[string]float64{"x": 2}}, {Update: 1}}); err != nil {
		t.Fatal(err)
	}
	ps, _, err := s.Points(ctx, "me", "r", 1, 10)
	if err != nil || len(ps) != 1 || ps[0].Values["x"] != 2 {
		t.Errorf("%v %v", ps, err)
	}
	if rs, err := s.Runs(ctx, "you"); err != nil || len(rs) != 0 {
		t.Errorf("a foreign run is listed: %v %v", rs, err)
	}
	if rs, err := s.Runs(ctx, ""); err != nil || len(rs) != 1 || rs[0].Points != 2 {
		t.Errorf("%v %v", rs, err)
	}
}

// TestManyWriters: points of several runs and finished episodes are written at
// the same time, and none is refused because another is being written.
func TestManyWriters(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := t.Context()
	var wg sync.WaitGroup
	for w := range 4 {
		run := api.Run{RunID: fmt.Sprint("run", w)}
		if err := s.AddRun(ctx, "me", run); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for i := range 50 {
				if _, err := s.AddPoints(ctx, "me", run.RunID, []api.Point{{Update: int64(i), Values: map[string]float64{"x": 1}}}); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for i := range 50 {
				s.Ended(record(fmt.Sprint("ep", w, "-", i), api.StatusTerminated, 3))
			}
		})
	}
	wg.Wait()
	if err := s.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	all, err := s.Episodes(ctx, store.Filter{Limit: 1000})
	if err != nil || len(all) != 200 {
		t.Errorf("%d episodes were kept (%v), want 200", len(all), err)
	}
}
