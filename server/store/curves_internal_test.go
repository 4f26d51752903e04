package store

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/api"
)

// The bytes of an owner's curves are bounded as well, whichever way they come,
// and the longest curve is what gets coarser. The counts are those of the table,
// also after another process has taken it over.
func TestCurvesOfAnOwnerAreBounded(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	bounds := curveBounds{points: 400, bytes: 60 << 10, ownerBytes: 100 << 10}
	start := func() *SQLite {
		s, err := Open(ctx, dir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		s.bounds = bounds
		return s
	}
	s := start()
	add := func(run string, first, n, size int) {
		t.Helper()
		var ps []api.Point
		for i := range n {
			ps = append(ps, api.Point{Update: int64(first + i), Values: map[string]float64{strings.Repeat("m", size): 1}})
		}
		if _, err := s.AddPoints(ctx, "", run, ps); err != nil {
			t.Fatal(err)
		}
		s.compare(ctx, t)
	}
	for _, r := range []string{"small", "large", "other"} {
		if err := s.AddRun(ctx, "me", api.Run{RunID: r}); err != nil {
			t.Fatal(err)
		}
	}
	add("small", 0, 20, 10)
	for i := range 20 {
		add("large", 50*i, 50, 400)
	}
	add("large", 7, 1, 900) // in the place of another
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = start()
	defer s.Close()
	add("other", 0, 100, 500)
	add("other", math.MaxInt64-100, 100, 5) // as far apart as can be
	of := s.curves["me"]
	if of["small"].points != 20 {
		t.Errorf("the small curve has lost points: %v", of)
	}
	if n := of["small"].bytes + of["large"].bytes + of["other"].bytes; n > bounds.ownerBytes || of["large"].bytes > bounds.bytes {
		t.Errorf("%v", of)
	}
	add("small", 1000, 16, 20000) // so few that they are let be
	if err := s.DropRun(ctx, "me", "large"); err != nil {
		t.Fatal(err)
	}
	s.compare(ctx, t)
}

// compare holds the counts against the table.
func (s *SQLite) compare(ctx context.Context, t *testing.T) {
	t.Helper()
	for run, c := range s.curves["me"] {
		var is curve
		if err := s.db.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(octet_length(point)), 0) FROM points WHERE run_id = ?`, run).Scan(&is.points, &is.bytes); err != nil {
			t.Fatal(err)
		}
		if is != c {
			t.Fatal(fmt.Sprint("run ", run, " is counted as ", c, " but is ", is))
		}
		if is.points > s.bounds.points || is.bytes > s.bounds.bytes && is.points > fewest {
			t.Fatal(fmt.Sprint("run ", run, " has ", is))
		}
	}
}
