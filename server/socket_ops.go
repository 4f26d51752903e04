package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gorilla/websocket"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/internal/strict"
)

// job is one client frame.
type job struct {
	id     json.RawMessage
	op     api.WsOp
	env    string
	target json.RawMessage
	frame  []byte
	cost   int64 // of the owner's allowance
}

// wsCreate is a create's body in a frame, where id names the frame and env_id
// the env.
type wsCreate struct {
	Type         string      `json:"type,omitempty"`
	EnvID        string      `json:"env_id,omitempty"`
	Version      string      `json:"version,omitempty"`
	TTLSeconds   *int        `json:"ttl_seconds,omitempty"`
	Limits       *api.Limits `json:"limits,omitempty"`
	Labels       *api.Labels `json:"labels,omitempty"`
	GroupID      string      `json:"group_id,omitempty"`
	Count        *int        `json:"count,omitempty"`
	FromSnapshot string      `json:"from_snapshot,omitempty"`
}

// read takes frames until the connection ends, and says how it did.
func (c *socket) read() error {
	c.ws.SetReadLimit(c.s.cfg.MaxBody)
	c.ws.SetPongHandler(func(string) error { c.alive(); return nil })
	pong := c.ws.PingHandler()
	c.ws.SetPingHandler(func(d string) error { c.alive(); return pong(d) })
	for spare := int64(lingerBytes); ; {
		kind, r, err := c.ws.NextReader()
		if err != nil {
			return err
		}
		if c.isEnding() {
			n, err := io.Copy(io.Discard, r)
			if err != nil {
				return err
			}
			if spare -= n + 1; spare < 0 {
				return io.EOF // it was told, and does not listen
			}
			continue
		}
		frame, cost, err := c.s.large.read(r, c.owner, 0)
		if errors.Is(err, errAllowance) {
			c.s.large.give(c.owner, cost)
			frame = nil
			if _, err = io.Copy(io.Discard, r); err == nil {
				c.problem(nil, c.s.large.refused()) // its id was not looked for
				continue
			}
		}
		if err != nil {
			c.s.large.give(c.owner, cost)
			return err
		}
		c.alive()
		c.take(kind, frame, cost)
	}
}

// take has a frame served.
func (c *socket) take(kind int, frame []byte, cost int64) {
	if kind != websocket.TextMessage {
		c.s.large.give(c.owner, cost)
		c.problem(nil, refusal(api.ProblemCodeUnsupportedMediaType, "frames must be text"))
		return
	}
	j, err := parseFrame(frame)
	j.cost = cost
	if err != nil {
		c.problem(j.id, err)
		c.drop(j)
		return
	}
	c.dispatch(j)
}

// drop gives back what a frame took, once nothing of it is needed.
func (c *socket) drop(j *job) {
	c.s.large.give(c.owner, j.cost)
	j.cost, j.frame = 0, nil
}

// done ends a frame that was under way.
func (c *socket) done(j *job) {
	c.running.Add(-1)
	c.drop(j)
}

// parseFrame reads what all frames have. The id is set in j as soon as it is
// known to be a good one, also where an error follows.
func parseFrame(frame []byte) (j *job, err error) {
	j = &job{frame: frame}
	if err := strict.Check(frame); err != nil {
		return j, refusal(api.ProblemCodeInvalidJSON, "the frame "+err.Error())
	}
	var id, op, env []byte
	twice := ""
	set := func(k string, p *[]byte, v []byte) {
		if *p != nil {
			twice = k
		}
		*p = v
	}
	if !strict.Members(frame, func(k string, v []byte) {
		switch k {
		case "id":
			set(k, &id, plainID(v))
		case "op":
			set(k, &op, v)
		case "env_id":
			set(k, &env, v)
		case "target":
			set(k, (*[]byte)(&j.target), plainID(v))
		}
	}) {
		return j, refusal(api.ProblemCodeInvalidJSON, "the frame must be a JSON object")
	}
	if !goodID(id) {
		return j, episode.Invalid("/id", "must be a string of 1 to 128 characters or an integer")
	}
	j.id = bytes.Clone(id) // kept by a subscription, which must not keep the frame
	if twice != "" {
		return j, episode.Invalid("/"+twice, "appears twice")
	}
	if env != nil && json.Unmarshal(env, &j.env) != nil {
		return j, episode.Invalid("/env_id", "must be a string")
	}
	if op == nil || json.Unmarshal(op, &j.op) != nil || !j.op.Valid() {
		return j, episode.Invalid("/op", "must be one of create, reset, step, score, close, batch_step, attach, subscribe, ping, cancel")
	}
	return j, nil
}

// plainID spells an id in one way, so that it is found again however it was
// escaped.
func plainID(id []byte) []byte {
	var s string
	if bytes.IndexByte(id, '\\') < 0 || json.Unmarshal(id, &s) != nil {
		return id
	}
	b, err := api.Encode(s)
	if err != nil {
		return id // a string always encodes
	}
	return b
}

func goodID(id []byte) bool {
	if len(id) == 0 {
		return false
	}
	if id[0] == '"' {
		return len(id) > 2 && len(id) <= 130
	}
	var n int64
	return id[0] != 'n' && json.Unmarshal(id, &n) == nil // null would pass for 0
}

// dispatch hands a frame to a worker and returns at once.
func (c *socket) dispatch(j *job) {
	switch j.op {
	case api.WsOpPing:
		c.reply(j.id, struct{}{}, false, c.decode(j, &struct{}{}))
		c.drop(j)
		return
	case api.WsOpCancel:
		c.cancel(j)
		c.drop(j)
		return
	case api.WsOpSubscribe:
		c.subscribe(j)
		c.drop(j)
		return
	default: // the others take their time
	}
	if c.running.Add(1) > maxInFlight {
		c.done(j)
		e := refusal(api.ProblemCodeRateLimited, "too many frames are under way on this socket")
		e.Retryable = true
		c.problem(j.id, e)
		return
	}
	if j.env == "" || j.op == api.WsOpCreate || j.op == api.WsOpBatchStep {
		c.ops.Add(1)
		go func() {
			defer c.ops.Done()
			c.serve(j)
		}()
		return
	}
	c.mu.Lock()
	q, busy := c.queues[j.env]
	if busy && len(q) >= maxPerEnv {
		c.mu.Unlock()
		c.done(j)
		c.problem(j.id, &episode.Error{Code: api.ProblemCodeStepInProgress, Detail: "too many frames wait for this env", Retryable: true, EnvID: j.env})
		return
	}
	if busy {
		c.queues[j.env] = append(q, j)
		c.mu.Unlock()
		return
	}
	c.queues[j.env] = nil
	c.mu.Unlock()
	c.ops.Add(1)
	go c.work(j)
}

// work serves an env's frames in their order until none is left.
func (c *socket) work(j *job) {
	defer c.ops.Done()
	for {
		c.serve(j)
		c.mu.Lock()
		q := c.queues[j.env]
		if len(q) == 0 {
			delete(c.queues, j.env)
			c.mu.Unlock()
			return
		}
		c.queues[j.env] = q[1:]
		c.mu.Unlock()
		j = q[0]
	}
}

// cancel drops a frame that has not begun, or ends a subscription.
func (c *socket) cancel(j *job) {
	if err := c.decode(j, &struct{}{}, "target"); err != nil {
		c.problem(j.id, err)
		return
	}
	if !goodID(j.target) {
		c.problem(j.id, episode.Invalid("/target", "must be the id of a frame"))
		return
	}
	if c.unsubscribe(j.target) {
		c.reply(j.id, map[string]bool{"cancelled": true}, false, nil)
		return
	}
	var hit *job
	c.mu.Lock()
	for env, q := range c.queues {
		for i, w := range q {
			if bytes.Equal(w.id, j.target) {
				hit = w
				c.queues[env] = append(append([]*job{}, q[:i]...), q[i+1:]...)
				break
			}
		}
	}
	c.mu.Unlock()
	if hit != nil {
		c.done(hit)
		c.problem(hit.id, &episode.Error{Code: api.ProblemCodeStepConflict, Detail: "cancelled before it began", EnvID: hit.env})
	}
	c.reply(j.id, map[string]bool{"cancelled": hit != nil}, false, nil)
}

// decode reads a frame's fields into v, strictly.
func (c *socket) decode(j *job, v any, more ...string) error {
	return faultError(strict.Unmarshal(j.frame, v, append(more, "id", "op")...))
}

// serve carries out one frame and replies.
func (c *socket) serve(j *job) {
	defer c.done(j)
	if c.ctx.Err() != nil {
		return // the connection is gone; what has not begun is not begun
	}
	result, replayed, err := c.run(j)
	c.reply(j.id, result, replayed, err)
}

func (c *socket) run(j *job) (result any, replayed bool, err error) {
	defer recovered(&err)
	mgr, who := c.s.mgr, actor(c.ctx)
	needEnv := func() error {
		if j.env == "" {
			return episode.Invalid("/env_id", "is required")
		}
		return nil
	}
	switch j.op {
	case api.WsOpCreate:
		var f wsCreate
		if err := c.decode(j, &f); err != nil {
			return nil, false, err
		}
		made, _, err := mgr.Create(c.ctx, who, api.CreateEnvRequest{
			Type: f.Type, ID: f.EnvID, Version: f.Version, TTLSeconds: f.TTLSeconds, Limits: f.Limits,
			Labels: f.Labels, GroupID: f.GroupID, Count: f.Count, FromSnapshot: f.FromSnapshot,
		}, "", c.bind)
		if err != nil {
			return nil, false, err
		}
		return createReply(made), false, nil
	case api.WsOpReset:
		var req api.ResetRequest
		if err := first(c.decode(j, &req, "env_id"), needEnv()); err != nil {
			return nil, false, err
		}
		return unpack(mgr.Reset(c.ctx, who, j.env, req, ""))
	case api.WsOpStep:
		var req api.StepRequest
		if err := first(c.decode(j, &req, "env_id"), needEnv()); err != nil {
			return nil, false, err
		}
		return unpack(mgr.Step(c.ctx, who, j.env, req, ""))
	case api.WsOpBatchStep:
		var req api.BatchStepRequest
		if err := c.decode(j, &req); err != nil {
			return nil, false, err
		}
		res, err := c.s.collectSteps(c.ctx, req)
		return res, false, err
	default: // the others take nothing but an env
	}
	if err := c.decode(j, &struct{}{}, "env_id"); err != nil {
		return nil, false, err
	}
	if err := needEnv(); err != nil {
		return nil, false, err
	}
	switch j.op { //nolint:exhaustive // the others are above
	case api.WsOpScore:
		res, err := mgr.Score(c.ctx, who, j.env)
		return res, false, err
	case api.WsOpClose:
		return struct{}{}, false, mgr.Close(who, j.env)
	case api.WsOpAttach:
		res, err := mgr.Attach(who, j.env, c.bind)
		return res, false, err
	}
	return nil, false, fmt.Errorf("op %q is not served", j.op) // parseFrame lets no other through
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// unpack keeps a nil result out of an interface.
func unpack[T any](res *T, replayed bool, err error) (any, bool, error) {
	if err != nil {
		return nil, false, err
	}
	return res, replayed, nil
}
