package store_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/proctor-rl/proctor/api"
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
