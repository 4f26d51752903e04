package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
)

// curveBounds are what is kept of curves. A trainer that runs for days must not
// be refused, and whoever watches it wants to see all of it, so a curve that is
// too long gets coarser; nothing of it is cut off.
type curveBounds struct {
	points     int // of a run
	bytes      int // of a run
	ownerBytes int // of all runs of an owner
}

func defaultCurveBounds() curveBounds {
	return curveBounds{points: 20000, bytes: 32 << 20, ownerBytes: 1 << 30}
}

// fewest is where a curve is no longer thinned out, however long its points are.
const fewest = 16

// curve is how long a run's curve is.
type curve struct{ points, bytes int }

// measure learns how long an owner's curves are, the first time that it adds to
// one. The caller holds writing.
func (s *SQLite) measure(ctx context.Context, owner string) error {
	if s.curves[owner] != nil {
		return nil
	}
	rows, err := s.db.QueryContext(ctx, `SELECT run_id, count(*), sum(octet_length(point)) FROM points
	  WHERE run_id IN (SELECT run_id FROM runs WHERE owner = ?) GROUP BY run_id`, owner)
	if err != nil {
		return fmt.Errorf("measure curves: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	of := map[string]curve{}
	for rows.Next() {
		var run string
		var c curve
		if err := rows.Scan(&run, &c.points, &c.bytes); err != nil {
			return fmt.Errorf("measure curves: %w", err)
		}
		of[run] = c
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("measure curves: %w", err)
	}
	s.curves[owner] = of
	return nil
}

// thin has the curves of an owner keep their bounds, where that of one run has
// become as long as size. It says which have changed.
func (s *SQLite) thin(ctx context.Context, tx *sql.Tx, owner, run string, size curve) (map[string]curve, error) {
	changed := map[string]curve{run: size}
	var err error
	for size.points > s.bounds.points || size.bytes > s.bounds.bytes && size.points > fewest {
		if size, err = coarser(ctx, tx, run); err != nil {
			return nil, err
		}
		changed[run] = size
	}
	all, total := maps.Clone(s.curves[owner]), 0
	maps.Copy(all, changed)
	for _, c := range all {
		total += c.bytes
	}
	for total > s.bounds.ownerBytes {
		longest := run
		for r, c := range all {
			if c.bytes > all[longest].bytes {
				longest = r
			}
		}
		if all[longest].points <= fewest {
			break
		}
		c, err := coarser(ctx, tx, longest)
		if err != nil {
			return nil, err
		}
		total += c.bytes - all[longest].bytes
		all[longest], changed[longest] = c, c
	}
	return changed, nil
}

// coarser thins a curve out to about two thirds. Its newest quarter stays as it
// is; what is older has one point left of each equal stretch of updates, so that
// the past does not fade the longer the run goes on. That is the longest one,
// which has the most values: an evaluation comes once in many updates.
func coarser(ctx context.Context, tx *sql.Tx, run string) (left curve, err error) {
	type point struct {
		update int64
		bytes  int
	}
	var ps []point
	rows, err := tx.QueryContext(ctx, `SELECT upd, octet_length(point) FROM points WHERE run_id = ? ORDER BY upd`, run)
	if err != nil {
		return left, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var p point
		if err := rows.Scan(&p.update, &p.bytes); err != nil {
			return left, err
		}
		ps = append(ps, p)
	}
	if err := rows.Err(); err != nil || len(ps) == 0 {
		return left, err
	}
	drop, err := tx.PrepareContext(ctx, `DELETE FROM points WHERE run_id = ? AND upd = ?`)
	if err != nil {
		return left, err
	}
	defer drop.Close() //nolint:errcheck // the transaction's end closes it as well
	old := len(ps) - len(ps)/4 - 1
	first, stretch := ps[0].update, float64(ps[old].update-ps[0].update)/float64(max(1, len(ps)*2/5))
	keep := func(p point) { left.points, left.bytes = left.points+1, left.bytes+p.bytes }
	for i := 0; i < len(ps); {
		if i == 0 || i >= old {
			keep(ps[i])
			i++
			continue
		}
		best, end := i, i+1
		in := int(float64(ps[i].update-first) / stretch)
		for ; end < old && int(float64(ps[end].update-first)/stretch) == in; end++ {
			if ps[end].bytes > ps[best].bytes {
				best = end
			}
		}
		keep(ps[best])
		for ; i < end; i++ {
			if i == best {
				continue
			}
			if _, err := drop.ExecContext(ctx, run, ps[i].update); err != nil {
				return left, err
			}
		}
	}
	return left, nil
}
