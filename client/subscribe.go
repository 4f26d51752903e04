package client

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/proctor-rl/proctor/api"
)

// Subscribe has told called for every event that req asks for, in order, until
// the returned cancel is called or the socket ends (see Done). told runs on the
// socket's reader: it must be quick and must not call the Conn.
//
// To go on after the socket broke, dial again and set req.Stream to that of the
// result and req.After to the seq of the last event. Where the result then has
// a gap, events are lost and the state is to be read anew.
func (c *Conn) Subscribe(ctx context.Context, req api.WsSubscribe, told func(api.WsEvent)) (res api.WsSubscription, cancel func(context.Context) error, err error) {
	id := c.newID()
	c.mu.Lock()
	c.told[id] = told
	c.mu.Unlock()
	forget := func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.told, id)
	}
	if err := c.callAs(ctx, id, "subscribe", "", req, &res); err != nil {
		forget()
		return res, nil, err
	}
	return res, func(ctx context.Context) error {
		defer forget()
		return c.call(ctx, "cancel", "", struct {
			Target uint64 `json:"target"`
		}{id}, nil)
	}, nil
}

// Done is closed when the socket has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// tell hands an event to its subscription.
func (c *Conn) tell(sub json.RawMessage, frame []byte) {
	id, err := strconv.ParseUint(string(sub), 10, 64)
	if err != nil {
		return
	}
	c.mu.Lock()
	told := c.told[id]
	c.mu.Unlock()
	var e api.WsEvent
	if told != nil && json.Unmarshal(frame, &e) == nil {
		told(e)
	}
}
