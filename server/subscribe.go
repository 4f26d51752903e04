package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/gorilla/websocket"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/episode"
)

// maxSubscriptions bounds those of one socket.
const maxSubscriptions = 32

// subscription is one reader's place in the stream of events.
type subscription struct {
	id     json.RawMessage
	owner  string // empty: everybody's
	want   api.WsSubscribe
	seq    int64
	cancel chan struct{}
}

// subscribe serves a subscribe frame: the reply first, then the events.
func (c *socket) subscribe(j *job) {
	sub := &subscription{id: j.id, owner: ownerFilter(c.ctx), cancel: make(chan struct{})}
	res, err := c.admit(j, sub)
	c.reply(j.id, res, false, err)
	if err != nil {
		return
	}
	c.ops.Go(func() {
		c.follow(sub)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.subs[string(sub.id)] == sub { // not one of the same name that came after it
			delete(c.subs, string(sub.id))
		}
	})
}

// admit checks a subscription and finds its place.
func (c *socket) admit(j *job, sub *subscription) (*api.WsSubscription, error) {
	if err := c.decode(j, &sub.want); err != nil {
		return nil, err
	}
	w := &sub.want
	for i, k := range w.Events {
		if !k.Valid() {
			return nil, episode.Invalid(fmt.Sprintf("/events/%d", i), "must be one of episode, step, run, points, draining")
		}
	}
	switch {
	case w.Events != nil && len(w.Events) == 0:
		return nil, episode.Invalid("/events", "must have at least 1 entry")
	case w.After != nil && w.Stream == "":
		return nil, episode.Invalid("/stream", "is required beside after")
	case w.After != nil && *w.After < 0:
		return nil, episode.Invalid("/after", "must be at least 0")
	case w.Events == nil:
		w.Events = []api.WsEventKind{api.WsEventKindEpisode}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.subs[string(j.id)] != nil:
		return nil, episode.Invalid("/id", "names a subscription of this socket already")
	case len(c.subs) >= maxSubscriptions:
		e := refusal(api.ProblemCodeRateLimited, fmt.Sprintf("a socket has at most %d subscriptions", maxSubscriptions))
		e.Retryable = true
		return nil, e
	}
	h := c.s.events
	var gap bool
	sub.seq, gap = h.start(w.Stream, w.After)
	c.subs[string(j.id)] = sub
	return &api.WsSubscription{Stream: h.stream, Seq: sub.seq, Gap: gap}, nil
}

// follow sends what a subscription asks for until it or the socket ends. A
// reader who is behind all that is kept has lost events: it is too slow.
func (c *socket) follow(sub *subscription) {
	for {
		es, wake, ok := c.s.events.next(sub.seq)
		if !ok {
			c.tooSlow()
			return
		}
		for _, e := range es {
			sub.seq = e.seq
			if !sub.wants(e) {
				continue
			}
			select {
			case <-sub.cancel:
				return
			case <-c.closing:
				return
			default:
			}
			if !c.room() { // before there is a frame to hold
				return
			}
			c.send(e.frame(sub.id))
		}
		if len(es) > 0 {
			continue
		}
		if wake == nil {
			return
		}
		select {
		case <-wake:
		case <-sub.cancel:
			return
		case <-c.closing:
			return
		}
	}
}

// caughtUp waits, after the end of events, until every subscription has sent what
// was left, or no longer than a reader may take.
func (c *socket) caughtUp() {
	t := time.NewTicker(2 * time.Millisecond)
	defer t.Stop()
	for end := time.Now().Add(slowAfter); time.Now().Before(end); {
		c.mu.Lock()
		n := len(c.subs)
		c.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-t.C:
		case <-c.closing:
			return
		}
	}
}

func (sub *subscription) wants(e *event) bool {
	if e.kind == api.WsEventKindDraining {
		return true
	}
	if sub.owner != "" && sub.owner != e.owner || !slices.Contains(sub.want.Events, e.kind) {
		return false
	}
	is := func(want, have string) bool { return want == "" || want == have }
	w := &sub.want
	if !is(w.Owner, e.owner) {
		return false
	}
	if e.of == nil {
		return is(w.RunID, e.runID)
	}
	return is(w.Type, e.of.Type) && is(w.TaskID, e.of.TaskID) && is(w.GroupID, e.of.GroupID) &&
		is(w.EnvID, e.of.EnvID) && is(w.EpisodeID, e.of.EpisodeID)
}

// unsubscribe ends the subscription that a frame began, if there is one.
func (c *socket) unsubscribe(id json.RawMessage) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	sub := c.subs[string(id)]
	if sub == nil {
		return false
	}
	delete(c.subs, string(id))
	close(sub.cancel)
	return true
}

// tooSlow closes the connection of a client that does not read.
func (c *socket) tooSlow() {
	// Everybody who waits to send finds it out, but it is one connection.
	if c.slow.CompareAndSwap(false, true) {
		c.s.metrics.slow.Inc()
	}
	c.fail(websocket.CloseTryAgainLater, "the client reads too slowly")
}
