package server

import (
	"crypto/rand"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/episode"
)

// maxEventBytes bounds how much of the past a subscription can go back to, as
// Config.EventsKept does.
const maxEventBytes = 32 << 20

// hub is the stream of events. Whoever reports one only appends to it; each
// subscription reads on from its own place in its own goroutine, so that no
// reader, however slow, holds up a step or another reader. Nothing is kept
// before the first subscription: where nobody watches, nobody pays.
type hub struct {
	stream string
	max    int // events kept
	on     atomic.Bool

	mu    sync.Mutex
	kept  []*event // the newest, seq rising by one
	bytes int
	seq   int64         // of the newest
	wake  chan struct{} // closed by the next event, nil while nobody waits
	over  bool          // no event comes any more
}

var _ episode.Watcher = (*hub)(nil)

func newHub(keep int) *hub { return &hub{stream: rand.Text(), max: keep} }

// event is one entry. What it says never changes.
type event struct {
	seq   int64
	owner string // empty: everybody's
	kind  api.WsEventKind
	of    *api.Episode // what it is about, for the filters; only the names are set where it is a step's
	step  *api.Step
	run   *api.Run
	runID string
	added []api.Point
	size  int

	once sync.Once
	body []byte // the frame after its subscription, encoded for whoever needs it first
}

// Changed tells of an episode's beginning or end.
func (h *hub) Changed(owner string, ep *api.Episode) {
	if h.on.Load() {
		c := *ep
		h.add(&event{kind: api.WsEventKindEpisode, owner: owner, of: &c, size: 1024})
	}
}

// Advanced tells of a step.
func (h *hub) Advanced(owner string, ep *api.Episode, st *api.Step) {
	if !h.on.Load() {
		return
	}
	of := api.Episode{EpisodeID: ep.EpisodeID, EnvID: ep.EnvID, Type: ep.Type, TaskID: ep.TaskID, GroupID: ep.GroupID}
	c := *st
	size := 1024 + len(c.Action) + len(c.Observation.Text) + len(c.Observation.Data)
	for _, m := range c.Observation.Messages {
		size += len(m.Content)
	}
	h.add(&event{kind: api.WsEventKindStep, owner: owner, of: &of, step: &c, size: size})
}

// Draining tells that the server is shutting down.
func (h *hub) Draining() {
	if h.on.Load() {
		h.add(&event{kind: api.WsEventKindDraining, size: 128})
	}
}

func (h *hub) ran(owner string, run api.Run) {
	if h.on.Load() {
		h.add(&event{kind: api.WsEventKindRun, owner: owner, run: &run, runID: run.RunID, size: 1024})
	}
}

func (h *hub) pointed(owner, runID string, ps []api.Point) {
	if h.on.Load() {
		h.add(&event{kind: api.WsEventKindPoints, owner: owner, runID: runID, added: ps, size: 128 + 1024*len(ps)})
	}
}

func (h *hub) add(e *event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	e.seq = h.seq
	h.kept = append(h.kept, e)
	h.bytes += e.size
	for len(h.kept) > h.max || h.bytes > maxEventBytes && len(h.kept) > 1 {
		h.bytes -= h.kept[0].size
		h.kept[0] = nil
		h.kept = h.kept[1:]
	}
	if h.wake != nil {
		close(h.wake)
		h.wake = nil
	}
}

// finish says that no event comes any more: who has read them all is done.
func (h *hub) finish() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	if h.wake != nil {
		close(h.wake)
		h.wake = nil
	}
}

// start is where a subscription begins: after what it has had, or now. gap says
// that what it asks for is no longer kept.
func (h *hub) start(stream string, after *int64) (seq int64, gap bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.on.Store(true)
	switch {
	case after == nil:
		return h.seq, false
	case stream != h.stream || *after > h.seq || *after < h.seq-int64(len(h.kept)):
		return h.seq, true
	}
	return *after, false
}

// next is what came after seq, at most 256 events. Where there is nothing yet,
// wake is closed by the next one; it is nil where none will come. ok is false where
// it is no longer kept.
func (h *hub) next(seq int64) (es []*event, wake <-chan struct{}, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	behind := int(h.seq - seq)
	switch {
	case behind > len(h.kept):
		return nil, nil, false
	case behind == 0 && h.over:
		return nil, nil, true
	case behind == 0:
		if h.wake == nil {
			h.wake = make(chan struct{})
		}
		return nil, h.wake, true
	}
	from := len(h.kept) - behind
	return append(es, h.kept[from:min(from+256, len(h.kept))]...), nil, true
}

// frame is e for the subscription id.
func (e *event) frame(id json.RawMessage) []byte {
	e.once.Do(func() {
		w := api.WsEvent{Event: e.kind, Seq: e.seq, Run: e.run}
		switch e.kind {
		case api.WsEventKindEpisode:
			w.Episode = e.of
		case api.WsEventKindStep:
			w.EnvID, w.EpisodeID, w.Step = e.of.EnvID, e.of.EpisodeID, e.step
		case api.WsEventKindPoints:
			w.RunID, w.Points = e.runID, e.added
		case api.WsEventKindRun, api.WsEventKindDraining:
		}
		b, err := api.Encode(struct {
			api.WsEvent
			Subscription *int `json:"subscription,omitempty"` // hides the event's own: each reader has another
		}{WsEvent: w})
		if err == nil { // it was JSON before, or made of strings and numbers
			e.body = b[1:]
		}
	})
	b := make([]byte, 0, len(e.body)+len(id)+20)
	return append(append(append(append(b, `{"subscription":`...), id...), ','), e.body...)
}
