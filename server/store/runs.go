package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/proctor-rl/proctor/api"
)

// MostRuns is how many runs an owner may keep.
const MostRuns = 1000

// pageBytes is where a page of points ends, however few they are.
const pageBytes = 4 << 20

// AddRun keeps a run.
func (s *SQLite) AddRun(ctx context.Context, owner string, r api.Run) error {
	b, err := encode(r)
	if err != nil {
		return fmt.Errorf("encode run: %w", err)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	res, err := s.db.ExecContext(ctx, `INSERT INTO runs (run_id, owner, run)
	  SELECT ?1, ?2, ?3 WHERE (SELECT count(*) FROM runs WHERE owner = ?2) < ?4`, r.RunID, owner, b, MostRuns)
	if err != nil {
		return fmt.Errorf("write run: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return firstOf(ErrFull, err)
	}
	return nil
}

// DropRun forgets a run and its curve.
func (s *SQLite) DropRun(ctx context.Context, owner, runID string) error {
	whose, err := s.mine(ctx, owner, runID)
	if err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("drop run: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it says so
	for _, q := range []string{`DELETE FROM points WHERE run_id = ?`, `DELETE FROM runs WHERE run_id = ?`} {
		if _, err := tx.ExecContext(ctx, q, runID); err != nil {
			return fmt.Errorf("drop run: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("drop run: %w", err)
	}
	delete(s.curves[whose], runID)
	return nil
}

// mine says whose a run is that is there for an owner, empty for any.
func (s *SQLite) mine(ctx context.Context, owner, runID string) (is string, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT owner FROM runs WHERE run_id = ?`, runID).Scan(&is)
	if errors.Is(err, sql.ErrNoRows) || err == nil && owner != "" && is != owner {
		return "", ErrNotFound
	}
	return is, err
}

// AddPoints adds to a run's curve and says whose it is.
func (s *SQLite) AddPoints(ctx context.Context, owner, runID string, ps []api.Point) (string, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	whose, err := s.mine(ctx, owner, runID) // under the lock: nothing is added to a run that is being dropped
	if err != nil {
		return "", err
	}
	if err := s.measure(ctx, whose); err != nil {
		return "", err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return "", fmt.Errorf("write points: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it says so
	size := s.curves[whose][runID]
	at := time.Now().UTC().Format(time.RFC3339Nano)
	was, err := tx.PrepareContext(ctx, `SELECT octet_length(point) FROM points WHERE run_id = ? AND upd = ?`)
	if err != nil {
		return "", fmt.Errorf("write points: %w", err)
	}
	defer was.Close() //nolint:errcheck // the transaction's end closes it as well
	put, err := tx.PrepareContext(ctx, `INSERT OR REPLACE INTO points (run_id, upd, point, at) VALUES (?,?,?,?)`)
	if err != nil {
		return "", fmt.Errorf("write points: %w", err)
	}
	defer put.Close() //nolint:errcheck // the transaction's end closes it as well
	for _, p := range ps {
		b, err := encode(p)
		if err != nil {
			return "", fmt.Errorf("encode point: %w", err)
		}
		var old int
		err = was.QueryRowContext(ctx, runID, p.Update).Scan(&old)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			size.points++
		case err != nil:
			return "", fmt.Errorf("write points: %w", err)
		}
		size.bytes += len(b) - old
		if _, err := put.ExecContext(ctx, runID, p.Update, b, at); err != nil {
			return "", fmt.Errorf("write points: %w", err)
		}
	}
	changed, err := s.thin(ctx, tx, whose, runID, size)
	if err != nil {
		return "", fmt.Errorf("thin points: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return "", fmt.Errorf("write points: %w", err)
	}
	for run, size := range changed {
		s.curves[whose][run] = size
	}
	return whose, nil
}

// Runs lists runs, newest first.
func (s *SQLite) Runs(ctx context.Context, owner string) ([]api.Run, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT run, owner, (SELECT count(*) FROM points p WHERE p.run_id = r.run_id),
	  coalesce((SELECT max(at) FROM points p WHERE p.run_id = r.run_id), '')
	  FROM runs r WHERE ? = '' OR owner = ? ORDER BY seq DESC LIMIT 1000`, owner, owner)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var out []api.Run
	for rows.Next() {
		var doc, at, owner string
		var r api.Run
		var n int
		if err := rows.Scan(&doc, &owner, &n, &at); err != nil {
			return nil, fmt.Errorf("list runs: %w", err)
		}
		if err := json.Unmarshal([]byte(doc), &r); err != nil {
			return nil, fmt.Errorf("decode run: %w", err)
		}
		r.Points, r.Owner = n, owner
		if t, err := time.Parse(time.RFC3339Nano, at); err == nil {
			r.UpdatedAt = &t
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// Points is a page of the curve of a run after an update.
func (s *SQLite) Points(ctx context.Context, owner, runID string, after int64, limit int) (ps []api.Point, more bool, err error) {
	if _, err := s.mine(ctx, owner, runID); err != nil {
		return nil, false, err
	}
	rows, err := s.db.QueryContext(ctx, `SELECT point FROM points WHERE run_id = ? AND upd > ? ORDER BY upd LIMIT ?`, runID, after, limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("read points: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for bytes := 0; rows.Next(); {
		if len(ps) == limit || bytes >= pageBytes {
			return ps, true, nil
		}
		var b string
		var p api.Point
		if err := rows.Scan(&b); err != nil {
			return nil, false, fmt.Errorf("read points: %w", err)
		}
		if err := json.Unmarshal([]byte(b), &p); err != nil {
			return nil, false, fmt.Errorf("decode point: %w", err)
		}
		bytes += len(b)
		ps = append(ps, p)
	}
	return ps, false, rows.Err()
}
