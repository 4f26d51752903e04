package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver" // registers the driver "sqlite3"
)

// How the recorder batches. A commit is never later than maxWait after the
// first entry of its batch.
const (
	queueLen  = 4096
	batchRows = 2000
	maxWait   = 200 * time.Millisecond
)

// SQLite is a Store in one file.
type SQLite struct {
	db    *sql.DB
	log   *slog.Logger
	queue chan entry
	done  chan struct{}
	temp  string // a folder to remove at the end

	// writing is held around each writing transaction: SQLite has one writer,
	// and waiting for it by polling runs into its time limit on a busy machine.
	writing sync.Mutex

	mu     sync.RWMutex
	closed bool
}

var _ Store = (*SQLite)(nil)

// entry is an episode to write, or a mark that somebody waits for.
type entry struct {
	rec   Record
	ended bool
	mark  chan struct{}
}

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

func open(ctx context.Context, dir string, log *slog.Logger, own bool) (*SQLite, error) {
	s := &SQLite{log: log, queue: make(chan entry, queueLen), done: make(chan struct{})}
	if dir == "" {
		t, err := os.MkdirTemp("", "proctor-")
		if err != nil {
			return nil, fmt.Errorf("make temporary store: %w", err)
		}
		dir, s.temp = t, t
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make store: %w", err)
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(filepath.Join(dir, "proctor.db"))}
	q := url.Values{"_pragma": {"busy_timeout(30000)", "journal_mode(wal)", "synchronous(normal)", "foreign_keys(on)"}}
	db, err := sql.Open("sqlite3", u.String()+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	db.SetMaxOpenConns(4)
	s.db = db
	if _, err := db.ExecContext(ctx, schema); err != nil {
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

func firstOf(err error, _ error) error { return err }

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
	s.queue <- e
	return true
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

// record commits batches until the queue is closed.
func (s *SQLite) record() {
	defer close(s.done)
	var batch []entry
	for first := range s.queue {
		batch = append(batch[:0], first)
		rows := 1 + len(first.rec.Steps)
		wait := time.NewTimer(maxWait)
		urgent := first.mark != nil
	gather:
		for rows < batchRows {
			if urgent && len(s.queue) == 0 {
				break
			}
			select {
			case e, ok := <-s.queue:
				if !ok {
					break gather
				}
				batch = append(batch, e)
				rows += 1 + len(e.rec.Steps)
				urgent = urgent || e.mark != nil
			case <-wait.C:
				break gather
			}
		}
		wait.Stop()
		if err := s.commit(batch); err != nil {
			s.log.Error("episodes were not recorded", "err", err, "episodes", len(batch))
		}
		for _, e := range batch {
			if e.mark != nil {
				close(e.mark)
			}
		}
	}
}

func (s *SQLite) commit(batch []entry) (err error) {
	ctx := context.Background()
	s.writing.Lock()
	defer s.writing.Unlock()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			if e := tx.Rollback(); e != nil {
				s.log.Error("rollback failed", "err", e)
			}
		}
	}()
	w, err := newWriter(ctx, tx)
	if err != nil {
		return err
	}
	defer w.close()
	for _, e := range batch {
		if e.mark != nil {
			continue
		}
		if err = w.episode(ctx, e.rec, e.ended); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// writer holds the statements of one transaction.
type writer struct{ start, end, step *sql.Stmt }

func newWriter(ctx context.Context, tx *sql.Tx) (w *writer, err error) {
	w = &writer{}
	// A start that comes after its end changes nothing.
	if w.start, err = tx.PrepareContext(ctx, insertEpisode+` ON CONFLICT (episode_id) DO NOTHING`); err != nil {
		return nil, err
	}
	// An end is written once: an ended episode never changes.
	if w.end, err = tx.PrepareContext(ctx, insertEpisode+` ON CONFLICT (episode_id) DO UPDATE SET status = excluded.status,
	  return = excluded.return, unplayed = excluded.unplayed, episode = excluded.episode, reset = excluded.reset
	  WHERE episodes.status = 'running'`); err != nil {
		return nil, err
	}
	if w.step, err = tx.PrepareContext(ctx, `INSERT OR IGNORE INTO steps (episode_id, idx, reward, step) VALUES (?,?,?,?)`); err != nil {
		return nil, err
	}
	return w, nil
}

const insertEpisode = `INSERT INTO episodes (episode_id, owner, type, task_id, group_id, status, return, unplayed, episode, reset)
  VALUES (?,?,?,?,?,?,?,?,?,?)`

func (w *writer) close() {
	for _, s := range []*sql.Stmt{w.start, w.end, w.step} {
		_ = s.Close() // the transaction's end closes them as well
	}
}

func (w *writer) episode(ctx context.Context, r Record, ended bool) error {
	ep, err := json.Marshal(r.Episode)
	if err != nil {
		return fmt.Errorf("encode episode: %w", err)
	}
	reset, err := json.Marshal(r.Reset)
	if err != nil {
		return fmt.Errorf("encode observation: %w", err)
	}
	st := w.start
	if ended {
		st = w.end
	}
	e := r.Episode
	if _, err := st.ExecContext(ctx, e.EpisodeID, r.Owner, e.Type, e.TaskID, e.GroupID, string(e.Status), e.Return, r.Unplayed, string(ep), string(reset)); err != nil {
		return fmt.Errorf("write episode: %w", err)
	}
	if !ended {
		return nil
	}
	for _, s := range r.Steps {
		b, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("encode step: %w", err)
		}
		if _, err := w.step.ExecContext(ctx, e.EpisodeID, s.Step, s.Reward, string(b)); err != nil {
			return fmt.Errorf("write step: %w", err)
		}
	}
	return nil
}
