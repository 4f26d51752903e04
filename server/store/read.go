package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/proctor-rl/proctor/api"
)

// where is the conditions of f and their values.
func (f Filter) where() (where []string, args []any) {
	add := func(cond string, v any) { where, args = append(where, cond), append(args, v) }
	for _, c := range []struct{ col, v string }{
		{"owner", f.Owner}, {"owner", f.Only}, {"type", f.Type}, {"task_id", f.TaskID}, {"group_id", f.GroupID}, {"status", f.Status},
	} {
		if c.v != "" {
			add(c.col+" = ?", c.v)
		}
	}
	if f.Before > 0 {
		add("seq < ?", f.Before)
	}
	return where, args
}

// CountEnded counts the ended episodes that f selects, whatever its limit.
func (s *SQLite) CountEnded(ctx context.Context, f Filter) (n int, err error) {
	where, args := f.where()
	q := "SELECT count(*) FROM episodes WHERE " + strings.Join(append(where, "status <> 'running'"), " AND ")
	if err := s.db.QueryRowContext(ctx, q, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count episodes: %w", err)
	}
	return n, nil
}

// EndedTypes counts the ended episodes of each env type.
func (s *SQLite) EndedTypes(ctx context.Context) (map[string]int, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT type, count(*) FROM episodes WHERE status <> 'running' GROUP BY type")
	if err != nil {
		return nil, fmt.Errorf("count episodes: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	out := map[string]int{}
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			return nil, fmt.Errorf("count episodes: %w", err)
		}
		out[name] = n
	}
	return out, rows.Err()
}

// Episodes lists episodes, newest first.
func (s *SQLite) Episodes(ctx context.Context, f Filter) ([]Entry, error) {
	if err := s.Sync(ctx); err != nil {
		return nil, err
	}
	where, args := f.where()
	q := "SELECT seq, owner, episode FROM episodes"
	if len(where) > 0 {
		q += " WHERE " + strings.Join(where, " AND ")
	}
	q += " ORDER BY seq DESC LIMIT ?"
	limit := f.Limit
	if limit <= 0 {
		limit = 100
	}
	rows, err := s.db.QueryContext(ctx, q, append(args, limit)...)
	if err != nil {
		return nil, fmt.Errorf("list episodes: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var out []Entry
	for rows.Next() {
		var e Entry
		var doc string
		if err := rows.Scan(&e.Seq, &e.Owner, &doc); err != nil {
			return nil, fmt.Errorf("list episodes: %w", err)
		}
		if err := json.Unmarshal([]byte(doc), &e.Episode); err != nil {
			return nil, fmt.Errorf("decode episode: %w", err)
		}
		e.Episode.Owner = e.Owner // which earlier versions did not write into it
		out = append(out, e)
	}
	return out, rows.Err()
}

// Episode reads one episode with its steps.
func (s *SQLite) Episode(ctx context.Context, id string) (Record, error) {
	if err := s.Sync(ctx); err != nil {
		return Record{}, err
	}
	var r Record
	var doc, reset string
	var steps sql.NullString
	err := s.db.QueryRowContext(ctx, `SELECT owner, unplayed, episode, reset, steps FROM episodes WHERE episode_id = ?`, id).
		Scan(&r.Owner, &r.Unplayed, &doc, &reset, &steps)
	if errors.Is(err, sql.ErrNoRows) {
		return r, ErrNotFound
	}
	if err != nil {
		return r, fmt.Errorf("read episode: %w", err)
	}
	if err := errors.Join(json.Unmarshal([]byte(doc), &r.Episode), json.Unmarshal([]byte(reset), &r.Reset)); err != nil {
		return r, fmt.Errorf("decode episode: %w", err)
	}
	r.Episode.Owner = r.Owner // which earlier versions did not write into it
	if steps.Valid {
		if err := json.Unmarshal([]byte(steps.String), &r.Steps); err != nil {
			return r, fmt.Errorf("decode steps: %w", err)
		}
		return r, nil
	}
	r.Steps, err = s.oldSteps(ctx, id)
	return r, err
}

// oldSteps reads the steps of an episode that was written in version 1.
func (s *SQLite) oldSteps(ctx context.Context, id string) (steps []api.Step, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT step FROM steps WHERE episode_id = ? ORDER BY idx`, id)
	if err != nil {
		return nil, fmt.Errorf("read steps: %w", err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var b string
		var st api.Step
		if err := rows.Scan(&b); err != nil {
			return nil, fmt.Errorf("read steps: %w", err)
		}
		if err := json.Unmarshal([]byte(b), &st); err != nil {
			return nil, fmt.Errorf("decode step: %w", err)
		}
		steps = append(steps, st)
	}
	return steps, rows.Err()
}
