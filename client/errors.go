package client

import (
	"errors"
	"fmt"
	"strings"

	"github.com/proctor-rl/proctor/api"
)

// ErrClosed is returned by calls on a Conn whose socket is gone. What became of
// a step that was under way is not known; repeat it with its index after Attach.
var ErrClosed = errors.New("client: connection closed")

// Error is a problem that the server answered with.
type Error struct {
	api.Problem
}

// Error says what was refused and why.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "proctor: %s (%d)", e.Code, e.Status)
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	for _, f := range e.Errors {
		fmt.Fprintf(&b, "; %s: %s", f.Pointer, f.Detail)
	}
	return b.String()
}

// Is reports whether target is an *Error of the same code, so that
// errors.Is(err, client.Code(api.ProblemCodeEpisodeOver)) works.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error) // Is must look at the target itself.
	return ok && t.Code == e.Code
}

// Code is an error to compare others with by errors.Is.
func Code(c api.ProblemCode) error { return &Error{Problem: api.Problem{Code: c}} }

// CodeOf is the contract's code in err, or empty where err is none of the server's.
func CodeOf(err error) api.ProblemCode {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Retryable says whether the same request may succeed later.
func Retryable(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Retryable
}
