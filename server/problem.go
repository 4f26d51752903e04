package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/internal/strict"
)

// kinds gives each code its status and title. It is the only such table.
var kinds = map[api.ProblemCode]struct {
	status int
	title  string
}{
	api.ProblemCodeInvalidJSON:          {http.StatusBadRequest, "The body is not valid JSON"},
	api.ProblemCodeUnauthenticated:      {http.StatusUnauthorized, "A bearer token is needed"},
	api.ProblemCodeForbidden:            {http.StatusForbidden, "The token does not allow this"},
	api.ProblemCodeNotFound:             {http.StatusNotFound, "Nothing is found here"},
	api.ProblemCodeMethodNotAllowed:     {http.StatusMethodNotAllowed, "The method is not allowed here"},
	api.ProblemCodeEnvTypeNotFound:      {http.StatusNotFound, "No such env type"},
	api.ProblemCodeEnvNotFound:          {http.StatusNotFound, "No such env"},
	api.ProblemCodeTaskNotFound:         {http.StatusNotFound, "No such task"},
	api.ProblemCodeEpisodeNotFound:      {http.StatusNotFound, "No such episode"},
	api.ProblemCodeRunNotFound:          {http.StatusNotFound, "No such run"},
	api.ProblemCodeSnapshotNotFound:     {http.StatusNotFound, "No such snapshot"},
	api.ProblemCodeResetRequired:        {http.StatusConflict, "The env needs a reset first"},
	api.ProblemCodeEpisodeOver:          {http.StatusConflict, "The episode is over"},
	api.ProblemCodeStepConflict:         {http.StatusConflict, "The request conflicts with an earlier one"},
	api.ProblemCodeStepOutOfOrder:       {http.StatusConflict, "The step is out of order"},
	api.ProblemCodeStepInProgress:       {http.StatusConflict, "Another call runs on the env"},
	api.ProblemCodeEnvExpired:           {http.StatusGone, "The env has expired"},
	api.ProblemCodeBodyTooLarge:         {http.StatusRequestEntityTooLarge, "The body is too large"},
	api.ProblemCodeUnsupportedMediaType: {http.StatusUnsupportedMediaType, "The content type is not supported"},
	api.ProblemCodeWrongNode:            {http.StatusMisdirectedRequest, "Another node has this env"},
	api.ProblemCodeInvalidField:         {http.StatusUnprocessableEntity, "A field is invalid"},
	api.ProblemCodeUnknownField:         {http.StatusUnprocessableEntity, "A field is unknown"},
	api.ProblemCodeCapacity:             {http.StatusTooManyRequests, "The server is full"},
	api.ProblemCodeRateLimited:          {http.StatusTooManyRequests, "Too many requests"},
	api.ProblemCodeEnvCrashed:           {http.StatusInternalServerError, "The environment broke"},
	api.ProblemCodeInternal:             {http.StatusInternalServerError, "The server broke"},
	api.ProblemCodeNotSupported:         {http.StatusNotImplemented, "Not supported"},
	api.ProblemCodeDraining:             {http.StatusServiceUnavailable, "The server is shutting down"},
	api.ProblemCodeSandboxUnavailable:   {http.StatusServiceUnavailable, "The environment cannot run now"},
	api.ProblemCodeStepTimeout:          {http.StatusGatewayTimeout, "The step took too long"},
	api.ProblemCodeResetTimeout:         {http.StatusGatewayTimeout, "The reset took too long"},
	api.ProblemCodeGradeTimeout:         {http.StatusGatewayTimeout, "The grading took too long"},
}

func refusal(code api.ProblemCode, detail string) *episode.Error {
	return &episode.Error{Code: code, Detail: detail}
}

// problemOf is the document for err. Whatever is not an *episode.Error is an
// internal one: it is logged here and the client learns its request id only.
func (s *Server) problemOf(ctx context.Context, err error) api.Problem {
	var e *episode.Error
	switch {
	case errors.As(err, &e):
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		e = &episode.Error{Code: api.ProblemCodeInternal, Detail: "the client went away", Effect: api.EffectUnknown}
	default:
		s.cfg.Log.ErrorContext(ctx, "request failed", "err", err, "request_id", requestID(ctx))
		e = &episode.Error{Code: api.ProblemCodeInternal, Effect: api.EffectUnknown}
	}
	k, ok := kinds[e.Code]
	if !ok {
		k = kinds[api.ProblemCodeInternal]
	}
	effect := e.Effect
	if effect == "" {
		effect = api.EffectNone
	}
	detail := e.Detail
	if len(e.Fields) > 0 {
		detail += ": " + fieldWords(e.Fields)
	}
	return api.Problem{
		Type: "/problems/" + string(e.Code), Title: k.title, Status: k.status, Detail: detail, Instance: instance(ctx),
		Code: e.Code, Retryable: e.Retryable, Effect: effect, RetryAfterMs: int(e.RetryAfter / time.Millisecond),
		Errors: e.Fields, EnvID: e.EnvID, EpisodeID: e.EpisodeID, Step: e.Step, RequestID: requestID(ctx),
	}
}

// fieldWords says of each field what is wrong with it: many clients show no more
// of a problem than its detail.
func fieldWords(fields []api.FieldError) string {
	var words []string
	for _, f := range fields {
		name := strings.TrimPrefix(f.Pointer, "/")
		if name == "" {
			name = "it"
		}
		words = append(words, name+" "+f.Detail)
	}
	return strings.Join(words, ", ")
}

// writeError answers with the problem of err.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	p := s.problemOf(r.Context(), err)
	h := w.Header()
	if p.RetryAfterMs > 0 {
		h.Set("Retry-After", strconv.Itoa((p.RetryAfterMs+999)/1000))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="proctor"`)
	}
	h.Set("Content-Type", "application/problem+json")
	b, err := api.Encode(p)
	if err != nil {
		b = []byte(`{}`) // a Problem always marshals
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(b) // the client may be gone
}

// faultError turns decoding faults into a refusal: unknown-field only where
// nothing else is wrong.
func faultError(faults []strict.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	e := refusal(api.ProblemCodeUnknownField, "a field of the request is unknown")
	for _, f := range faults {
		if !f.Unknown && e.Code == api.ProblemCodeUnknownField {
			e.Code, e.Detail = api.ProblemCodeInvalidField, "a field of the request is invalid"
		}
		e.Fields = append(e.Fields, api.FieldError{Pointer: f.Pointer, Detail: f.Detail})
	}
	return e
}
