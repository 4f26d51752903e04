package server

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/episode"
)

// subprotocol is the name of the frame format.
const subprotocol = "proctor.v1"

// Bounds of one socket.
const (
	maxInFlight = 4096 // frames that are being served
	maxPerEnv   = 64   // frames that wait for one env
	slowAfter   = time.Second
	maxGrace    = time.Hour
)

// socket is one WebSocket connection. One goroutine reads, one writes; each
// env with frames to serve has a worker, so that a long step holds up neither
// the reader nor another env.
type socket struct {
	slow atomic.Bool // the client was found to read too slowly

	s    *Server
	ws   *websocket.Conn
	cork *cork           // under ws, the writer's
	ctx  context.Context // the connection's own, for its workers
	stop context.CancelFunc
	bind *episode.Binding

	out     chan []byte
	closing chan struct{} // closed by fail
	once    sync.Once
	code    int // close code, set before closing is closed
	reason  string

	owner   string       // for the allowance
	unread  atomic.Int64 // bytes in out
	running atomic.Int64
	seen    atomic.Int64 // when the peer last gave a sign of life, in Unix nanoseconds

	mu     sync.Mutex
	queues map[string][]*job        // per env with a worker: what waits
	subs   map[string]*subscription // by the id of their frame
	ops    sync.WaitGroup
}

func (s *Server) upgrader() websocket.Upgrader {
	return websocket.Upgrader{
		Subprotocols:     []string{subprotocol},
		HandshakeTimeout: 10 * time.Second,
		CheckOrigin:      s.originAllowed,
		Error: func(w http.ResponseWriter, r *http.Request, status int, _ error) {
			e := refusal(api.ProblemCodeInvalidField, "a WebSocket handshake is needed here")
			if status == http.StatusForbidden {
				e = refusal(api.ProblemCodeForbidden, "the origin is not allowed")
			}
			s.writeError(w, r, e)
		},
	}
}

// originAllowed keeps pages of other sites off the socket. Programs send no
// Origin.
func (s *Server) originAllowed(r *http.Request) bool {
	o := r.Header.Get("Origin")
	if o == "" || slices.Contains(s.cfg.AllowedOrigins, o) {
		return true
	}
	u, err := url.Parse(o)
	return err == nil && strings.EqualFold(u.Host, r.Host)
}

// openSocket serves GET /ws for as long as the connection lasts.
func (s *Server) openSocket(w http.ResponseWriter, r *http.Request) {
	grace := s.cfg.ResumeGrace
	op := operation{query: map[string]bool{"resume_grace_seconds": true}} // the route is not generated
	if err := op.checkQuery(r); err != nil {
		s.writeError(w, r, err)
		return
	}
	if v := r.URL.Query().Get("resume_grace_seconds"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 || n > int(maxGrace/time.Second) {
			s.writeError(w, r, episode.Invalid("/resume_grace_seconds", "must be from 0 to 3600"))
			return
		}
		grace = time.Duration(n) * time.Second
	}
	up := s.upgrader()
	cw := &corked{ResponseWriter: w}
	ws, err := up.Upgrade(cw, r, nil)
	if err != nil {
		return // answered by the upgrader
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	c := &socket{
		s: s, ws: ws, cork: cw.cork, ctx: ctx, stop: cancel, bind: &episode.Binding{Grace: grace}, owner: principalOf(r.Context()).owner,
		out: make(chan []byte, s.cfg.QueueFrames), closing: make(chan struct{}), queues: map[string][]*job{},
		subs: map[string]*subscription{},
	}
	if !s.track(c) {
		cancel()
		_ = ws.Close()
		return
	}
	defer s.untrack(c)
	c.alive()
	written := make(chan bool, 1)
	go func() { written <- c.write() }()
	end := c.read()
	c.fail(websocket.CloseNormalClosure, "")
	cancel()
	s.mgr.Release(c.bind)
	if <-written {
		c.linger(end)
	}
	_ = ws.Close() // it may be gone
	c.ops.Wait()
	s.mgr.Release(c.bind) // what was under way may have made another env
}

func (s *Server) track(c *socket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.sockets[c] = struct{}{}
	s.wg.Add(1)
	s.metrics.sockets.Inc()
	return true
}

func (s *Server) untrack(c *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sockets, c)
	s.metrics.sockets.Dec()
	s.wg.Done()
}

func (c *socket) alive() { c.seen.Store(time.Now().UnixNano()) }

// fail starts the end of the connection; the writer carries it out.
func (c *socket) fail(code int, reason string) {
	c.once.Do(func() {
		c.code, c.reason = code, reason
		close(c.closing)
	})
}

func (c *socket) goAway() { c.fail(websocket.CloseGoingAway, "the server is shutting down") }

// write is the connection's only writer, but for pongs, which gorilla allows
// beside it. It pings, watches for a dead peer, and ends the connection. It
// says whether the client was told so; where it could not be, the connection is
// closed.
func (c *socket) write() (said bool) {
	defer func() {
		if said {
			c.farewell()
		} else {
			_ = c.ws.Close() // nothing can be done about it
		}
	}()
	cfg := &c.s.cfg
	every := cfg.PingInterval
	if every <= 0 {
		every = max(cfg.IdleTimeout/3, time.Second)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-c.closing:
			if c.code == websocket.CloseGoingAway {
				c.flush()
			}
			msg := websocket.FormatCloseMessage(c.code, c.reason)
			return told(c.ws.WriteControl(websocket.CloseMessage, msg, time.Now().Add(cfg.WriteTimeout/2)))
		case b := <-c.out:
			if err := c.writeOut(b, time.Now().Add(cfg.WriteTimeout)); err != nil {
				c.fail(websocket.CloseAbnormalClosure, "")
				return told(err)
			}
		case <-tick.C:
			idle := time.Since(time.Unix(0, c.seen.Load()))
			if cfg.IdleTimeout > 0 && idle > cfg.IdleTimeout && c.running.Load() == 0 {
				c.fail(websocket.CloseGoingAway, "no sign of life")
				continue
			}
			if cfg.PingInterval > 0 {
				if err := c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(cfg.WriteTimeout)); err != nil {
					c.fail(websocket.CloseAbnormalClosure, "")
					return told(err)
				}
			}
		}
	}
}

// flush writes what is queued already: replies to work that is done.
func (c *socket) flush() {
	end := time.Now().Add(c.s.cfg.WriteTimeout / 2)
	for {
		select {
		case b := <-c.out:
			if c.writeOut(b, end) != nil {
				return
			}
		default:
			return
		}
	}
}

// writeOut writes a frame, and whatever else is ready, at once.
func (c *socket) writeOut(b []byte, end time.Time) (err error) {
	c.unread.Add(-int64(len(b))) // the rest is the kernel's, or the peer's fault
	runtime.Gosched()            // who is about to be ready gets onto the same boat
	c.cork.hold()
	defer func() { // also what the reader wrote meanwhile: that the connection ends
		if e := c.cork.release(); err == nil {
			err = e
		}
	}()
	if err := c.ws.SetWriteDeadline(end); err != nil {
		return err
	}
	for size := 0; ; {
		if err := c.ws.WriteMessage(websocket.TextMessage, b); err != nil {
			return err
		}
		if size += len(b); size >= mostHeld/2 {
			return nil
		}
		select {
		case b = <-c.out:
			c.unread.Add(-int64(len(b)))
		default:
			return nil
		}
	}
}

// send queues a frame. A reader that leaves the queue full, of frames or of
// bytes, is too slow.
func (c *socket) send(frame []byte) {
	if !c.room() {
		return
	}
	c.unread.Add(int64(len(frame)))
	select {
	case c.out <- frame:
		return
	case <-c.closing:
		return
	default:
	}
	t := time.NewTimer(slowAfter)
	defer t.Stop()
	select {
	case c.out <- frame:
	case <-c.closing:
	case <-t.C:
		c.tooSlow()
	}
}

// room waits until more may be queued. It is false where the connection ends.
func (c *socket) room() bool {
	if c.unread.Load() < maxUnread {
		return true
	}
	end := time.NewTimer(slowAfter)
	defer end.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for c.unread.Load() >= maxUnread {
		select {
		case <-look.C:
		case <-c.closing:
			return false
		case <-end.C:
			c.tooSlow()
			return false
		}
	}
	return true
}

func (c *socket) reply(id json.RawMessage, result any, replayed bool, err error) {
	if err != nil {
		c.problem(id, err)
		return
	}
	body, err := api.Encode(result)
	if err != nil {
		c.problem(id, err)
		return
	}
	b := make([]byte, 0, len(body)+len(id)+48)
	b = append(append(append(b, `{"id":`...), id...), `,"ok":true,`...)
	if replayed {
		b = append(b, `"replayed":true,`...)
	}
	b = append(append(append(b, `"result":`...), body...), '}')
	c.send(b)
}

func (c *socket) problem(id json.RawMessage, err error) {
	if id == nil {
		id = json.RawMessage("null")
	}
	p := c.s.problemOf(c.ctx, err)
	b, err := api.Encode(api.WsReply{ID: &id, OK: false, Problem: &p})
	if err != nil {
		return // a problem always marshals
	}
	c.send(b)
}
