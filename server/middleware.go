package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/internal/strict"
)

type requestKey struct{}

type requestInfo struct{ id, path string }

func requestID(ctx context.Context) string {
	if i, ok := ctx.Value(requestKey{}).(requestInfo); ok {
		return i.id
	}
	return ""
}

func instance(ctx context.Context) string {
	if i, ok := ctx.Value(requestKey{}).(requestInfo); ok {
		return i.path
	}
	return ""
}

// identify gives each request an id and turns a panic of ours into a 500.
func (s *Server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info := requestInfo{id: rand.Text(), path: r.URL.EscapedPath()}
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, info))
		h := w.Header()
		h.Set("X-Request-Id", info.id)
		h.Set("X-Content-Type-Options", "nosniff")
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(p)
			}
			s.writeError(w, r, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}()
		next.ServeHTTP(w, r)
	})
}

// recovered turns a panic of ours into an error, where no request's goroutine
// would catch it.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

// readBody reads a JSON body within bounds. It is nil where there is none.
//
// The caller calls done once the body is done with.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) (body []byte, done func(), err error) {
	done = func() {}
	if r.Body == nil || r.Body == http.NoBody {
		return nil, done, nil
	}
	tooLarge := func() error {
		w.Header().Set("Connection", "close") // nobody reads the rest
		return refusal(api.ProblemCodeBodyTooLarge, fmt.Sprintf("a body has at most %d bytes", s.cfg.MaxBody))
	}
	if r.ContentLength > s.cfg.MaxBody {
		return nil, done, tooLarge()
	}
	owner := principalOf(r.Context()).owner
	body, cost, err := s.large.read(http.MaxBytesReader(w, r.Body, s.cfg.MaxBody), owner, r.ContentLength)
	done = func() { s.large.give(owner, cost) }
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		return nil, done, tooLarge()
	case errors.Is(err, errAllowance):
		w.Header().Set("Connection", "close") // nobody reads the rest
		return nil, done, s.large.refused()
	case err != nil:
		return nil, done, refusal(api.ProblemCodeInvalidJSON, "the body ended early")
	case len(bytes.TrimSpace(body)) == 0:
		return nil, done, nil
	}
	if ce := r.Header.Get("Content-Encoding"); ce != "" && !strings.EqualFold(ce, "identity") {
		return nil, done, refusal(api.ProblemCodeUnsupportedMediaType, "the body must be sent without a Content-Encoding")
	}
	if !isJSON(r, body) {
		return nil, done, refusal(api.ProblemCodeUnsupportedMediaType, "the body must be JSON and say so: -H 'Content-Type: application/json'")
	}
	if err := strict.Check(body); err != nil {
		return nil, done, refusal(api.ProblemCodeInvalidJSON, "the body "+err.Error())
	}
	return body, done, nil
}

// isJSON reports whether a request says that its body is JSON. "curl -d" says
// that it is a form, whatever it is, and small clients say nothing, so an object
// in a form or under no name is read too, but not from a browser: there it is
// what a foreign page can send without asking.
func isJSON(r *http.Request, body []byte) bool {
	ct := r.Header.Get("Content-Type")
	if ct == "application/json" {
		return true
	}
	browser := r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != ""
	if len(r.Header.Values("Content-Type")) == 0 {
		if !browser {
			r.Header.Set("Content-Type", "application/json")
		}
		return !browser
	}
	mt, params, err := mime.ParseMediaType(ct)
	if err != nil {
		return false
	}
	if cs := params["charset"]; cs != "" && !strings.EqualFold(cs, "utf-8") && !strings.EqualFold(cs, "us-ascii") {
		return false
	}
	object := bytes.HasPrefix(bytes.TrimSpace(body), []byte("{"))
	if mt == "application/x-www-form-urlencoded" && object && !browser {
		r.Header.Set("Content-Type", "application/json")
		return true
	}
	return mt == "application/json"
}

// sameOrigin refuses what a page of another origin has a browser send: without
// tokens, loopback is all that keeps strangers out, and a browser is inside.
func (s *Server) sameOrigin(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := protection.Check(r); err != nil {
			s.writeError(w, r, refusal(api.ProblemCodeForbidden, "the request comes from a page of another origin"))
			return
		}
		if len(s.cfg.Tokens) == 0 && !hereByName(r.Host) {
			s.writeError(w, r, refusal(api.ProblemCodeForbidden, "without tokens the server answers to localhost and to addresses alone, not to other names"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hereByName says whether a Host is no name that somebody else's DNS can point
// at this machine: a page from there would be of the same origin.
func hereByName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// validate checks a request before the generated code decodes it: the body
// strictly against the operation's type, then everything against the contract.
func (s *Server) validate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		op := s.contract.find(r)
		if op == nil {
			next.ServeHTTP(w, r)
			return
		}
		body, done, err := s.readBody(w, r)
		defer done()
		if err == nil {
			err = op.check(r, body)
		}
		if err != nil {
			s.writeError(w, r, err)
			return
		}
		if strings.Contains(r.Header.Get("Accept"), "application/x-ndjson") {
			r = r.WithContext(context.WithValue(r.Context(), acceptKey{}, true))
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
		next.ServeHTTP(w, r)
	})
}
