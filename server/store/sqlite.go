package store

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	_ "github.com/ncruces/go-sqlite3/driver" // registers the driver "sqlite3"
)

// SQLite is a Store in one file.
type SQLite struct {
	db    *sql.DB
	log   *slog.Logger
	queue chan entry
	done  chan struct{}
	temp  string // a folder to remove at the end

	closing  chan struct{}
	failures atomic.Int64

	roomMu sync.Mutex
	room   *sync.Cond // of roomMu
	queued int        // bytes of the records that wait to be written

	// writing is held around each writing transaction: SQLite has one writer,
	// and waiting for it by polling runs into its time limit on a busy machine.
	writing sync.Mutex
	curves  map[string]map[string]curve // by owner and run, of owners who have added to one; of writing
	bounds  curveBounds

	once   sync.Once // closes closing
	mu     sync.RWMutex
	closed bool
}

var _ Store = (*SQLite)(nil)

// Open opens proctor.db in the folder dir, making both if need be. An empty
// dir means a temporary folder that Close removes. Episodes that an earlier
// process left running are marked as failed: nobody will ever measure them.
func Open(ctx context.Context, dir string, log *slog.Logger) (*SQLite, error) {
	return open(ctx, dir, log, true)
}

// OpenReadOnly opens the store of a folder beside a server that may be using
// it, and leaves its running episodes alone.
func OpenReadOnly(ctx context.Context, dir string, log *slog.Logger) (*SQLite, error) {
	return open(ctx, dir, log, false)
}

// file is the name of the store in its folder.
const file = "proctor.db"

// In says whether a folder has a store.
func In(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, file))
	return err == nil && info.Mode().IsRegular()
}

func open(ctx context.Context, dir string, log *slog.Logger, own bool) (*SQLite, error) {
	s := &SQLite{log: log, queue: make(chan entry, queueLen), done: make(chan struct{}), closing: make(chan struct{}), curves: map[string]map[string]curve{}, bounds: defaultCurveBounds()}
	s.room = sync.NewCond(&s.roomMu)
	if dir == "" {
		t, err := os.MkdirTemp("", "proctor-")
		if err != nil {
			return nil, fmt.Errorf("make temporary store: %w", err)
		}
		dir, s.temp = t, t
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make store: %w", err)
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(filepath.Join(dir, file))}
	q := url.Values{"_pragma": {"busy_timeout(30000)", "journal_mode(wal)", "synchronous(normal)", "foreign_keys(on)"}}
	db, err := sql.Open("sqlite3", u.String()+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	db.SetMaxOpenConns(4)
	s.db = db
	if err := s.refuseLater(ctx); err != nil {
		return nil, fmt.Errorf("open store: %w", firstOf(err, db.Close()))
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, fmt.Errorf("open store: %w", firstOf(err, db.Close()))
	}
	if err := s.migrate(ctx); err != nil {
		return nil, fmt.Errorf("open store: %w", firstOf(err, db.Close()))
	}
	if own {
		if err := s.adopt(ctx); err != nil {
			return nil, fmt.Errorf("open store: %w", firstOf(err, db.Close()))
		}
	}
	go s.record()
	return s, nil
}

func firstOf(err, _ error) error { return err }

// refuseLater refuses a file that a newer server wrote.
func (s *SQLite) refuseLater(ctx context.Context) error {
	var v int
	if err := s.db.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&v); err != nil {
		return err
	}
	if v > version {
		return fmt.Errorf("%s was written by a newer proctor (format %d, this one knows %d); use that one, or another folder", file, v, version)
	}
	return nil
}

// migrate gives a file of version 1 the column that it lacks. A row an episode
// instead of one more a step is what most of the writing was.
func (s *SQLite) migrate(ctx context.Context) error {
	has := func() (n int, err error) {
		err = s.db.QueryRowContext(ctx, `SELECT count(*) FROM pragma_table_info('episodes') WHERE name = 'steps'`).Scan(&n)
		return n, err
	}
	if n, err := has(); n > 0 || err != nil {
		return err
	}
	_, err := s.db.ExecContext(ctx, `ALTER TABLE episodes ADD COLUMN steps TEXT`)
	if n, e := has(); e == nil && n > 0 {
		return nil // another process may have been faster
	}
	return err
}

// adopt ends what a killed process left running.
func (s *SQLite) adopt(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, `UPDATE episodes SET status = 'failed', return = NULL,
	  episode = json_set(episode, '$.status', 'failed', '$.return', json('null')) WHERE status = 'running'`)
	return err
}

// Started queues an episode that has begun.
func (s *SQLite) Started(r Record) { s.push(entry{rec: r}) }

// Ended queues an ended episode.
func (s *SQLite) Ended(r Record) { s.push(entry{rec: r, ended: true}) }

func (s *SQLite) push(e entry) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return false
	}
	e.size = weight(e.rec)
	s.enter(e.size)
	s.queue <- e
	return true
}

// enter waits until a record of n bytes has room among those that wait.
func (s *SQLite) enter(n int) {
	s.roomMu.Lock()
	defer s.roomMu.Unlock()
	for n > 0 && s.queued > 0 && s.queued+n > queueBytes {
		s.room.Wait()
	}
	s.queued += n
}

// leave undoes enter.
func (s *SQLite) leave(n int) {
	s.roomMu.Lock()
	defer s.roomMu.Unlock()
	s.queued -= n
	s.room.Broadcast()
}

// Sync waits until all that was queued before is committed.
func (s *SQLite) Sync(ctx context.Context) error {
	mark := make(chan struct{})
	if !s.push(entry{mark: mark}) {
		return nil
	}
	select {
	case <-mark:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close commits what is queued and closes the file.
func (s *SQLite) Close() error {
	s.once.Do(func() { close(s.closing) }) // before the lock: whoever waits for a disk that refuses has it
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.queue)
	s.mu.Unlock()
	<-s.done
	err := s.db.Close()
	if s.temp != "" {
		if e := os.RemoveAll(s.temp); err == nil {
			err = e
		}
	}
	return err
}
