package episode

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/envs"
)

// begin marks s as busy. The caller holds s.mu and has seen that it is not.
func (m *Manager) begin(s *slot) (*op, context.Context) {
	// The call outlives a client that hangs up: its reply is kept for a retry.
	ctx, cancel := context.WithCancel(context.Background())
	o := &op{cancel: cancel, reply: make(chan opReply, 1)}
	s.busy = o
	m.active.Add(1)
	return o, ctx
}

// enter waits for a turn on the machine and starts the watchdog. leave undoes
// both.
func (m *Manager) enter(ctx context.Context, s *slot, o *op, limit time.Duration) (run context.Context, leave func()) {
	left := m.turn(ctx, s.typ)
	run, cancel := context.WithTimeout(ctx, limit)
	dog := time.AfterFunc(limit+m.cfg.HangGrace, func() { m.hung(s, o) })
	return run, func() {
		dog.Stop()
		cancel()
		left()
	}
}

// turn waits until one more env of a type may run. If ctx ends meanwhile, the
// env will see that.
func (m *Manager) turn(ctx context.Context, typ envs.Type) (leave func()) {
	leave = func() {}
	if g, ok := typ.(envs.Gated); ok {
		l, err := g.Enter(ctx)
		if err != nil {
			return leave
		}
		leave = l
	}
	select {
	case m.slotsFree <- struct{}{}:
		place := leave
		leave = func() { <-m.slotsFree; place() }
	case <-ctx.Done():
	}
	return leave
}

// wait gives the op's answer, or a timeout of the client's own choosing while
// the op goes on.
func (m *Manager) wait(ctx context.Context, s *slot, o *op, timeout *int, code api.ProblemCode) opReply {
	var late <-chan time.Time
	if timeout != nil {
		t := time.NewTimer(time.Duration(*timeout) * time.Millisecond)
		defer t.Stop()
		late = t.C
	}
	select {
	case r := <-o.reply:
		return r
	case <-late:
		return opReply{err: &Error{
			Code: code, Detail: "not done within timeout_ms; it goes on, and a repeat of the same request gets its reply",
			Retryable: true, Effect: api.EffectUnknown, RetryAfter: 100 * time.Millisecond, EnvID: s.id,
		}}
	case <-ctx.Done():
		return opReply{err: &Error{
			Code: code, Detail: "the client went away", Retryable: true, Effect: api.EffectUnknown, EnvID: s.id, Cause: ctx.Err(),
		}}
	}
}

// hung gives up on an env that ignores its deadline: the episode has failed,
// and whatever the env says later is dropped.
func (m *Manager) hung(s *slot, o *op) {
	s.mu.Lock()
	if s.busy != o {
		s.mu.Unlock()
		return
	}
	o.gone = true
	s.busy = nil
	s.env = nil // the op closes it if it ever returns
	var done *Record
	if r := s.run; r != nil && !r.over {
		done = m.finish(r, api.StatusFailed, nil)
	}
	e := (&Error{Code: api.ProblemCodeStepTimeout, Detail: "the environment did not answer in time", Effect: api.EffectApplied}).at(s)
	s.mu.Unlock()
	o.cancel()
	m.obs.Broke(s.spec.Name, BoundaryHang)
	m.cfg.Log.Error("environment hung", "env_type", s.spec.Name, "env_id", s.id)
	m.settleRecord(done)
	o.reply <- opReply{err: e}
}

// safely turns a panic of an environment into an error.
func safely(f func() (envs.Outcome, error)) (out envs.Outcome, at Boundary, err error) {
	defer func() {
		if p := recover(); p != nil {
			at, err = BoundaryPanic, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	out, err = f()
	return out, "", err
}

// closeEnv releases an env; trouble on the way out is only logged.
func (m *Manager) closeEnv(e envs.Env) {
	if e == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			m.cfg.Log.Error("environment panicked on close", "err", fmt.Sprint(p))
		}
	}()
	if err := e.Close(); err != nil {
		m.cfg.Log.Error("environment did not close", "err", err)
	}
}
