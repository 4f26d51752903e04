package store_test

import (
	"context"
	"database/sql"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/store"
)

// A file of version 1, with a row a step, is read and written on.
func TestReadsVersionOne(t *testing.T) {
	dir := t.TempDir()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "proctor.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{
		`CREATE TABLE episodes (seq INTEGER PRIMARY KEY AUTOINCREMENT, episode_id TEXT NOT NULL UNIQUE, owner TEXT NOT NULL,
		  type TEXT NOT NULL, task_id TEXT NOT NULL, group_id TEXT NOT NULL, status TEXT NOT NULL, return REAL,
		  unplayed INTEGER NOT NULL DEFAULT 0, episode TEXT NOT NULL, reset TEXT NOT NULL)`,
		`CREATE TABLE steps (episode_id TEXT NOT NULL, idx INTEGER NOT NULL, reward REAL, step TEXT NOT NULL,
		  PRIMARY KEY (episode_id, idx)) WITHOUT ROWID`,
		`INSERT INTO episodes (episode_id, owner, type, task_id, group_id, status, return, episode, reset) VALUES
		  ('old', 'me', 'toy', 't', '', 'terminated', 1, '{"episode_id":"old","status":"terminated"}', '{"text":"begin"}')`,
		`INSERT INTO steps VALUES ('old', 1, 1, '{"step":1,"state_key":"b"}'), ('old', 0, 0, '{"step":0,"state_key":"a"}')`,
		`PRAGMA user_version = 1`,
	} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing to do
		s := open(t, dir)
		old, err := s.Episode(t.Context(), "old")
		if err != nil || len(old.Steps) != 2 || old.Steps[0].StateKey != "a" || old.Steps[1].StateKey != "b" {
			t.Errorf("%+v %v", old, err)
		}
		want := record("new", api.StatusTerminated, 3)
		s.Started(record("new", api.StatusRunning, 0))
		s.Ended(want)
		got, err := s.Episode(t.Context(), "new")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A file of a later version is refused, and is as it was: the server that wrote
// it knows things of it that this one would not keep.
func TestRefusesALaterVersion(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "proctor.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `PRAGMA user_version = 99`); err != nil {
		t.Fatal(err)
	}
	for _, open := range []func(context.Context, string, *slog.Logger) (*store.SQLite, error){store.Open, store.OpenReadOnly} {
		s, err := open(t.Context(), dir, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), "newer") {
			t.Errorf("a later version: %v", err)
		}
		if err == nil {
			s.Close()
		}
	}
	var v int
	if err := db.QueryRowContext(t.Context(), `PRAGMA user_version`).Scan(&v); err != nil || v != 99 {
		t.Errorf("the file says version %d now, %v", v, err)
	}
}
