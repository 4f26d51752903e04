package store

// version is the user_version that schema gives a file.
const version = 2

// schema makes the tables. user_version tells it from later ones.
const schema = `
CREATE TABLE IF NOT EXISTS episodes (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  episode_id TEXT NOT NULL UNIQUE,
  owner      TEXT NOT NULL,
  type       TEXT NOT NULL,
  task_id    TEXT NOT NULL,
  group_id   TEXT NOT NULL,
  status     TEXT NOT NULL CHECK (status IN ('running','terminated','truncated','failed','closed')),
  return     REAL,
  unplayed   INTEGER NOT NULL DEFAULT 0,
  episode    TEXT NOT NULL, -- the whole summary as JSON
  reset      TEXT NOT NULL, -- the first observation as JSON
  steps      TEXT           -- all steps as a JSON list; null while it runs
);
CREATE INDEX IF NOT EXISTS episodes_by_group ON episodes (group_id, seq) WHERE group_id <> '';
CREATE INDEX IF NOT EXISTS episodes_by_task ON episodes (type, task_id, seq);
CREATE INDEX IF NOT EXISTS episodes_by_owner ON episodes (owner, seq);
-- Files of version 1 have the steps here, a row each.
CREATE TABLE IF NOT EXISTS steps (
  episode_id TEXT NOT NULL,
  idx        INTEGER NOT NULL,
  reward     REAL,
  step       TEXT NOT NULL, -- the whole step as JSON
  PRIMARY KEY (episode_id, idx)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id     TEXT NOT NULL UNIQUE,
  owner      TEXT NOT NULL,
  run        TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS points (
  run_id     TEXT NOT NULL,
  upd        INTEGER NOT NULL,
  point      TEXT NOT NULL,
  at         TEXT NOT NULL,
  PRIMARY KEY (run_id, upd)
) WITHOUT ROWID;
PRAGMA user_version = 2;
`
