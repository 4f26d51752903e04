//go:build !linux

package sandbox

import (
	"context"
	"fmt"
	"runtime"
)

// Pool cannot exist on this system; New says so.
type Pool struct{}

// New refuses: only Linux has what confines agent code.
func New(context.Context, Config) (*Pool, error) {
	return nil, fmt.Errorf("%w: %s cannot confine agent code; run the server's Linux container instead", ErrUnavailable, runtime.GOOS)
}

// Calls is never reached: New makes no Pool here.
func (*Pool) Calls(context.Context, CallsJob) (CallsResult, error) {
	return CallsResult{}, ErrUnavailable
}

// Pytest is never reached: New makes no Pool here.
func (*Pool) Pytest(context.Context, PytestJob) (PytestResult, error) {
	return PytestResult{}, ErrUnavailable
}

// Proxied is never reached: New makes no Pool here.
func (*Pool) Proxied(context.Context, ProxiedJob) (PytestResult, error) {
	return PytestResult{}, ErrUnavailable
}

// Spare is never reached: New makes no Pool here.
func (*Pool) Spare() bool { return false }

// Enter is never reached: New makes no Pool here.
func (*Pool) Enter(context.Context) (leave func(), err error) { return nil, ErrUnavailable }

// Mode is never reached: New makes no Pool here.
func (*Pool) Mode() Mode { return "" }

// Interpreter is never reached: New makes no Pool here.
func (*Pool) Interpreter() string { return "" }

// Stats is never reached: New makes no Pool here.
func (*Pool) Stats() Stats { return Stats{} }

// Close does nothing.
func (*Pool) Close() error { return nil }
