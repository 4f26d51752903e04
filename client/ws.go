package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/proctor-rl/proctor/api"
)

// Subprotocol is the name of the frame format.
const Subprotocol = "proctor.v1"

// Conn plays many envs over one WebSocket. Calls may overlap freely; those of
// one env are served in the order in which they were sent.
type Conn struct {
	ws   *websocket.Conn
	opts Options

	write sync.Mutex // one writer at a time

	mu      sync.Mutex
	next    uint64
	pending map[uint64]chan wsReply
	told    map[uint64]func(api.WsEvent) // per subscription
	err     error                        // set once the socket is gone

	done chan struct{} // closed when the reader has ended
	stop chan struct{} // closed by Close
	once sync.Once
	wg   sync.WaitGroup
}

type wsReply struct {
	ID      json.RawMessage `json:"id"`
	OK      bool            `json:"ok"`
	Result  json.RawMessage `json:"result"`
	Problem *api.Problem    `json:"problem"`
	Event   string          `json:"event"`
	Sub     json.RawMessage `json:"subscription"`
}

// Dial opens a socket to the server at baseURL (http, https, ws or wss). Close
// it when done.
func Dial(ctx context.Context, baseURL string, opts Options) (*Conn, error) {
	opts = opts.withDefaults()
	u := strings.TrimSuffix(baseURL, "/")
	if rest, ok := strings.CutPrefix(u, "http"); ok {
		u = "ws" + rest
	}
	u += "/ws"
	if opts.ResumeGrace > 0 {
		u += "?resume_grace_seconds=" + strconv.Itoa(int(opts.ResumeGrace/time.Second))
	}
	h := http.Header{}
	if opts.Token != "" {
		h.Set("Authorization", "Bearer "+opts.Token)
	}
	d := websocket.Dialer{Subprotocols: []string{Subprotocol}, HandshakeTimeout: 15 * time.Second}
	ws, resp, err := d.DialContext(ctx, u, h)
	if err != nil {
		if resp != nil {
			defer resp.Body.Close() // gorilla has read it already
			var p api.Problem
			if json.NewDecoder(resp.Body).Decode(&p) == nil && p.Code != "" {
				return nil, &Error{Problem: p}
			}
		}
		return nil, fmt.Errorf("client: dial %s: %w", u, err)
	}
	ws.SetReadLimit(maxReply)
	c := &Conn{ws: ws, opts: opts, pending: map[uint64]chan wsReply{}, told: map[uint64]func(api.WsEvent){}, done: make(chan struct{}), stop: make(chan struct{})}
	c.wg.Go(c.read)
	if opts.PingInterval > 0 {
		c.wg.Go(c.ping)
	}
	return c, nil
}

// Close ends the socket. The server closes the envs made on it after its grace.
func (c *Conn) Close() error {
	c.once.Do(func() {
		close(c.stop)
		// WriteControl may run beside a writer; an error means the socket is gone already.
		_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
		_ = c.ws.Close()
	})
	c.wg.Wait()
	return nil
}

// read hands replies to their callers until the socket ends.
func (c *Conn) read() {
	defer close(c.done)
	for {
		_, b, err := c.ws.ReadMessage()
		if err != nil {
			c.fail(fmt.Errorf("%w: %w", ErrClosed, err))
			return
		}
		r, plain := plainReply(b)
		if !plain {
			if err := json.Unmarshal(b, &r); err != nil {
				c.fail(fmt.Errorf("%w: bad frame: %w", ErrClosed, err))
				return
			}
		}
		if r.Event != "" {
			c.tell(r.Sub, b)
			continue
		}
		id, err := strconv.ParseUint(string(r.ID), 10, 64)
		if err != nil {
			continue // a complaint about a frame that had no id
		}
		c.mu.Lock()
		ch := c.pending[id]
		delete(c.pending, id)
		c.mu.Unlock()
		if ch != nil {
			ch <- r // has room for its only reply
		}
	}
}

// plainReply takes a good reply apart where it is spelt as this server's are,
// without reading the result, which its caller will do.
func plainReply(b []byte) (r wsReply, ok bool) {
	rest, ok := bytes.CutPrefix(b, []byte(`{"id":`))
	if !ok {
		return r, false
	}
	id, rest, ok := bytes.Cut(rest, []byte(`,"ok":true,`))
	if !ok || len(id) > 20 {
		return r, false
	}
	rest = bytes.TrimPrefix(rest, []byte(`"replayed":true,`))
	rest, ok = bytes.CutPrefix(rest, []byte(`"result":`))
	if !ok || len(rest) < 2 || rest[len(rest)-1] != '}' {
		return r, false
	}
	return wsReply{ID: id, OK: true, Result: rest[:len(rest)-1]}, true
}

func (c *Conn) fail(err error) {
	_ = c.ws.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	for id, ch := range c.pending {
		close(ch)
		delete(c.pending, id)
	}
}

func (c *Conn) ping() {
	t := time.NewTicker(c.opts.PingInterval)
	defer t.Stop()
	for {
		select {
		case <-c.stop:
			return
		case <-c.done:
			return
		case <-t.C:
			if err := c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(5*time.Second)); err != nil {
				return
			}
		}
	}
}

// call sends {id, op, env_id, ...body} and waits for its reply.
func (c *Conn) call(ctx context.Context, op, envID string, body, out any) error {
	return c.callAs(ctx, c.newID(), op, envID, body, out)
}

func (c *Conn) newID() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	return c.next
}

func (c *Conn) callAs(ctx context.Context, id uint64, op, envID string, body, out any) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.opts.Timeout)
		defer cancel()
	}
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return c.err
	}
	ch := make(chan wsReply, 1)
	c.pending[id] = ch
	c.mu.Unlock()

	frame, err := encodeFrame(id, op, envID, body)
	if err == nil {
		c.write.Lock()
		// A write must end in finite time even where the peer is stuck.
		if err = c.ws.SetWriteDeadline(time.Now().Add(c.opts.Timeout)); err == nil {
			err = c.ws.WriteMessage(websocket.TextMessage, frame)
		}
		c.write.Unlock()
		if err != nil {
			// No later frame would get through either. Whoever asks again must
			// know that, even before the reader has noticed.
			err = fmt.Errorf("%w: %w", ErrClosed, err)
		}
	}
	if err != nil {
		c.forget(id)
		return fmt.Errorf("client: send %s: %w", op, err)
	}
	select {
	case r, ok := <-ch:
		return c.finish(r, ok, out)
	case <-ctx.Done():
		c.forget(id)
		return fmt.Errorf("client: %s: %w", op, ctx.Err())
	}
}

func (c *Conn) finish(r wsReply, ok bool, out any) error {
	switch {
	case !ok:
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.err
	case !r.OK && r.Problem != nil:
		return &Error{Problem: *r.Problem}
	case !r.OK:
		return errors.New("client: reply without a problem")
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(r.Result, out); err != nil {
		return fmt.Errorf("client: decode reply: %w", err)
	}
	return nil
}

func (c *Conn) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
}

// encodeFrame splices the head of a frame into the body's JSON object.
func encodeFrame(id uint64, op, envID string, body any) ([]byte, error) {
	b := make([]byte, 0, 256)
	b = append(b, `{"id":`...)
	b = strconv.AppendUint(b, id, 10)
	b = append(b, `,"op":"`...)
	b = append(b, op...)
	b = append(b, '"')
	if envID != "" {
		e, err := json.Marshal(envID)
		if err != nil {
			return nil, err
		}
		b = append(append(b, `,"env_id":`...), e...)
	}
	if body != nil {
		raw, err := api.Encode(body)
		if err != nil {
			return nil, err
		}
		if len(raw) > 2 {
			b = append(append(b, ','), raw[1:len(raw)-1]...)
		}
	}
	return append(b, '}'), nil
}
