package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/proctor-rl/proctor/api"
)

// How the recorder batches. A commit is never later than maxWait after the
// first entry of its batch.
const (
	queueLen   = 4096
	queueBytes = 256 << 20 // of the records that wait, but for a single longer one
	batchRows  = 2000
	batchBytes = 32 << 20
	maxWait    = 20 * time.Millisecond
)

// How long the recorder waits before it tries a failed commit again, and how
// often it still tries once the store is being closed.
const (
	firstPause = 100 * time.Millisecond
	longPause  = 2 * time.Second
	lastTries  = 3
)

// entry is an episode to write, or a mark that somebody waits for.
type entry struct {
	rec   Record
	ended bool
	mark  chan struct{}
	size  int // bytes, see weight
}

// weight is about how many bytes of memory a record holds.
func weight(r Record) int {
	n := 0
	for i := range r.Steps {
		st := &r.Steps[i]
		n += len(st.Action) + len(st.Observation.Text) + len(st.Observation.Data)
		for _, m := range st.Observation.Messages {
			n += len(m.Content)
		}
	}
	return n
}

// record commits batches until the queue is closed.
func (s *SQLite) record() {
	defer close(s.done)
	var batch []entry
	for first := range s.queue {
		batch = append(batch[:0], first)
		rows, size := 1+len(first.rec.Steps), first.size
		wait := time.NewTimer(maxWait)
		urgent := first.mark != nil
	gather:
		for rows < batchRows && size < batchBytes {
			if urgent && len(s.queue) == 0 {
				break
			}
			select {
			case e, ok := <-s.queue:
				if !ok {
					break gather
				}
				batch = append(batch, e)
				rows, size = rows+1+len(e.rec.Steps), size+e.size
				urgent = urgent || e.mark != nil
			case <-wait.C:
				break gather
			}
		}
		wait.Stop()
		s.keep(batch)
		for _, e := range batch {
			s.leave(e.size)
		}
		clear(batch) // what is written is not held until there is another
	}
}

// keep commits a batch, again and again while the disk refuses: what is not
// written is kept in memory, and once the queue is full whoever ends an episode
// waits. Readers do not wait for a disk that refuses.
func (s *SQLite) keep(batch []entry) {
	pause, last := firstPause, 0
	for tries := 1; ; tries++ {
		err := s.commit(batch)
		if err != nil {
			s.failures.Add(1) // before the marks: who waits for one reads the count next
		}
		for i := range batch {
			if batch[i].mark != nil && tries == 1 {
				close(batch[i].mark)
			}
		}
		if err == nil {
			if tries > 1 {
				s.log.Info("episodes are recorded again", "tries", tries)
			}
			return
		}
		if tries%30 == 1 {
			s.log.Error("episodes could not be recorded; trying again", "err", err, "episodes", len(batch), "tries", tries)
		}
		select {
		case <-s.closing:
			if last++; last > lastTries {
				s.log.Error("episodes were not recorded", "err", err, "episodes", len(batch))
				return
			}
			time.Sleep(firstPause) //nolint:forbidigo // a disk says nothing when it is well again
		case <-time.After(pause):
			pause = min(2*pause, longPause)
		}
	}
}

// Failures counts the commits of episodes that the disk refused.
func (s *SQLite) Failures() int64 { return s.failures.Load() }

// permanent says that an entry will never be written, whatever the disk does.
func permanent(err error) bool {
	var syntax *json.UnsupportedValueError
	var marshal *json.MarshalerError
	return errors.As(err, &syntax) || errors.As(err, &marshal) ||
		errors.Is(err, sqlite3.CONSTRAINT) || errors.Is(err, sqlite3.TOOBIG) || errors.Is(err, sqlite3.MISMATCH)
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
			if e := tx.Rollback(); e != nil && !errors.Is(e, sql.ErrTxDone) {
				s.log.Error("rollback failed", "err", e)
			}
		}
	}()
	w, err := newWriter(ctx, tx)
	if err != nil {
		return err
	}
	defer w.close()
	for _, e := range merged(batch) {
		if err = w.episode(ctx, e.rec, e.ended); permanent(err) {
			s.log.Error("an episode cannot be recorded", "err", err, "episode", e.rec.Episode.EpisodeID)
			err = w.lost(ctx, e)
		} else if err != nil {
			return err
		}
	}
	return tx.Commit()
}

// merged is what a batch has to write: where an episode begins and ends in it,
// its end in the place of its beginning.
func merged(batch []entry) []entry {
	out := make([]entry, 0, len(batch))
	begun := map[string]int{}
	for _, e := range batch {
		id := e.rec.Episode.EpisodeID
		at, ok := begun[id]
		switch {
		case e.mark != nil:
		case e.ended && ok:
			if !out[at].ended { // the first end counts
				out[at] = e
			}
		default:
			begun[id] = len(out)
			out = append(out, e)
		}
	}
	return out
}

// writer holds the statements of one transaction.
type writer struct{ start, end *sql.Stmt }

func newWriter(ctx context.Context, tx *sql.Tx) (w *writer, err error) {
	w = &writer{}
	// A start that comes after its end changes nothing.
	if w.start, err = tx.PrepareContext(ctx, insertEpisode+` ON CONFLICT (episode_id) DO NOTHING`); err != nil {
		return nil, err
	}
	// An end is written once: an ended episode never changes.
	if w.end, err = tx.PrepareContext(ctx, insertEpisode+` ON CONFLICT (episode_id) DO UPDATE SET status = excluded.status,
	  return = excluded.return, unplayed = excluded.unplayed, episode = excluded.episode, reset = excluded.reset, steps = excluded.steps
	  WHERE episodes.status = 'running'`); err != nil {
		return nil, err
	}
	return w, nil
}

const insertEpisode = `INSERT INTO episodes (episode_id, owner, type, task_id, group_id, status, return, unplayed, episode, reset, steps)
  VALUES (?,?,?,?,?,?,?,?,?,?,?)`

func (w *writer) close() {
	for _, s := range []*sql.Stmt{w.start, w.end} {
		_ = s.Close() // the transaction's end closes them as well
	}
}

// lost records that an episode ended and that we could not keep how: it must
// not seem to run for ever.
func (w *writer) lost(ctx context.Context, e entry) error {
	r := e.rec
	r.Steps, r.Episode.Status, r.Episode.StopReason, r.Episode.Return, r.Episode.Grade = nil, api.StatusFailed, nil, nil, nil
	if !e.ended {
		return nil
	}
	if err := w.episode(ctx, r, true); !permanent(err) {
		return err
	}
	return nil
}

// encode is v as JSON. Escaped for HTML, what an agent writes could be six times
// as long.
func encode(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func (w *writer) episode(ctx context.Context, r Record, ended bool) error {
	ep, err := encode(r.Episode)
	if err != nil {
		return fmt.Errorf("encode episode: %w", err)
	}
	reset, err := encode(r.Reset)
	if err != nil {
		return fmt.Errorf("encode observation: %w", err)
	}
	st := w.start
	var steps any // null while it runs
	if ended {
		st = w.end
		if steps, err = encode(r.Steps); err != nil {
			return fmt.Errorf("encode steps: %w", err)
		}
	}
	e := r.Episode
	if _, err := st.ExecContext(ctx, e.EpisodeID, r.Owner, e.Type, e.TaskID, e.GroupID, string(e.Status), e.Return, r.Unplayed, ep, reset, steps); err != nil {
		return fmt.Errorf("write episode: %w", err)
	}
	return nil
}
