package proctor

import (
	"context"
	"fmt"
	"sync"

	"github.com/proctor-rl/proctor/internal/sandbox"
)

// The values of --sandbox: the best there is, none to give confinement up, off to
// do without the code environments.
const (
	sandboxAuto = "auto"
	sandboxNone = string(sandbox.ModeNone)
	sandboxOff  = "off"
)

var errSandboxOff = fmt.Errorf("%w: it is turned off by --sandbox %s", sandbox.ErrUnavailable, sandboxOff)

// lateSandbox is a sandbox that starts when it is first used: commands that
// play environments in this process may never need it.
type lateSandbox struct {
	once sync.Once
	pool *sandbox.Pool
	err  error
}

func (l *lateSandbox) open(ctx context.Context) (*sandbox.Pool, error) {
	l.once.Do(func() { l.pool, l.err = sandbox.New(context.WithoutCancel(ctx), sandbox.Config{}) })
	return l.pool, l.err
}

// Calls runs a job in the sandbox.
func (l *lateSandbox) Calls(ctx context.Context, job sandbox.CallsJob) (sandbox.CallsResult, error) {
	p, err := l.open(ctx)
	if err != nil {
		return sandbox.CallsResult{}, err
	}
	return p.Calls(ctx, job)
}

// Pytest runs a job in the sandbox.
func (l *lateSandbox) Pytest(ctx context.Context, job sandbox.PytestJob) (sandbox.PytestResult, error) {
	p, err := l.open(ctx)
	if err != nil {
		return sandbox.PytestResult{}, err
	}
	return p.Pytest(ctx, job)
}

// Proxied runs a job in the sandbox.
func (l *lateSandbox) Proxied(ctx context.Context, job sandbox.ProxiedJob) (sandbox.PytestResult, error) {
	p, err := l.open(ctx)
	if err != nil {
		return sandbox.PytestResult{}, err
	}
	return p.Proxied(ctx, job)
}

// Close ends the sandbox if it was started.
func (l *lateSandbox) Close() error {
	l.once.Do(func() { l.err = sandbox.ErrClosed })
	if l.pool == nil {
		return nil
	}
	if err := l.pool.Close(); err != nil {
		return fmt.Errorf("close the sandbox: %w", err)
	}
	return nil
}
