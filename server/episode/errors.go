package episode

import (
	"fmt"
	"time"

	"github.com/proctor-rl/proctor/api"
)

// Error is a refusal: what the caller did wrong, or what is not to be had now.
// Its Detail and Fields may be shown to the client; the cause may not.
type Error struct {
	Code       api.ProblemCode
	Detail     string
	Fields     []api.FieldError
	Retryable  bool
	Effect     api.Effect // empty means none
	RetryAfter time.Duration
	EnvID      string
	EpisodeID  string
	Step       *int
	Cause      error
}

// Error names the code and the detail.
func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Detail, e.Cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Detail)
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Invalid is a 422 for one field.
func Invalid(pointer, detail string) *Error {
	return &Error{
		Code: api.ProblemCodeInvalidField, Detail: "a field of the request is invalid",
		Fields: []api.FieldError{{Pointer: pointer, Detail: detail}},
	}
}

func invalidFields(fields []api.FieldError) *Error {
	return &Error{Code: api.ProblemCodeInvalidField, Detail: "a field of the request is invalid", Fields: fields}
}

func errEnvNotFound(id string) *Error {
	return &Error{Code: api.ProblemCodeEnvNotFound, Detail: "no such env", EnvID: id}
}

// gone is the refusal for an env that is not there, or no more. While the server
// shuts down that is the reason, for it closes them all.
func (m *Manager) gone(id string) *Error {
	if !m.draining.Load() {
		return errEnvNotFound(id)
	}
	return &Error{Code: api.ProblemCodeDraining, Detail: "the server is shutting down and has no such env any more", EnvID: id}
}

// cutOff is the answer to a call whose env was closed while it ran.
func (m *Manager) cutOff(s *slot, r *run) *Error {
	e := m.gone(s.id)
	if e.Code == api.ProblemCodeDraining {
		e.Detail = "the server is shutting down: it has cut the call off, and its episode is closed without a reward"
		e.EpisodeID, e.Effect = r.rec.Episode.EpisodeID, api.EffectApplied
	}
	return e
}

func errTypeNotFound() *Error {
	return &Error{Code: api.ProblemCodeEnvTypeNotFound, Detail: "no such env type; GET /env-types lists them"}
}

func errTaskNotFound(detail string) *Error {
	return &Error{Code: api.ProblemCodeTaskNotFound, Detail: detail}
}

// ErrEpisodeNotFound is the refusal for an unknown or foreign episode.
func ErrEpisodeNotFound(id string) *Error {
	return &Error{Code: api.ProblemCodeEpisodeNotFound, Detail: "no such episode", EpisodeID: id}
}

// NotSupported is a 501.
func NotSupported(detail string) *Error {
	return &Error{Code: api.ProblemCodeNotSupported, Detail: detail}
}

func errDraining() *Error {
	return &Error{Code: api.ProblemCodeDraining, Detail: "the server is shutting down", Retryable: true, RetryAfter: 5 * time.Second}
}

// at adds where it happened.
func (e *Error) at(s *slot) *Error {
	e.EnvID = s.id
	if s.run != nil {
		e.EpisodeID = s.run.rec.Episode.EpisodeID
		n := s.run.next
		e.Step = &n
	}
	return e
}
