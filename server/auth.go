package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/gorilla/websocket"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/episode"
)

// Scope is what a token allows. Each scope includes the ones before it.
type Scope int

// The scopes.
const (
	ScopeNone     Scope = iota
	ScopeRollout        // play envs, read own episodes, push runs
	ScopeOperator       // also read everybody's, and the metrics
	ScopeAdmin          // also end everybody's
)

// ParseScope reads a scope's name.
func ParseScope(s string) (Scope, bool) {
	switch s {
	case "rollout":
		return ScopeRollout, true
	case "operator":
		return ScopeOperator, true
	case "admin":
		return ScopeAdmin, true
	}
	return ScopeNone, false
}

// Token is a bearer token that the server accepts. It holds a hash, so that the
// file it comes from does not give the token away.
type Token struct {
	Owner string
	Scope Scope
	Hash  [sha256.Size]byte
}

// HashToken is the hash of a token's text.
func HashToken(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

type principal struct {
	owner string
	scope Scope
}

type principalKey struct{}

// localOwner owns everything where authentication is off.
const localOwner = "local"

func principalOf(ctx context.Context) principal {
	p, ok := ctx.Value(principalKey{}).(principal)
	if !ok {
		return principal{}
	}
	return p
}

// reader may look: an operator looks at everybody's.
func reader(ctx context.Context) episode.Who {
	p := principalOf(ctx)
	return episode.Who{Owner: p.owner, All: p.scope >= ScopeOperator}
}

// actor may change: an admin changes everybody's.
func actor(ctx context.Context) episode.Who {
	p := principalOf(ctx)
	return episode.Who{Owner: p.owner, All: p.scope >= ScopeAdmin}
}

// open paths need no token.
func (s *Server) openPath(path string) bool {
	switch path {
	case "/healthz", "/readyz", "/version", "/openapi.yaml":
		return true
	}
	return s.pageFile(path) != ""
}

// neededScope is what a request needs.
func neededScope(path string) Scope {
	if path == "/metrics" {
		return ScopeOperator
	}
	return ScopeRollout
}

func (s *Server) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := s.who(r)
		if !ok && !s.openPath(r.URL.Path) {
			s.writeError(w, r, refusal(api.ProblemCodeUnauthenticated, "the request carries no valid bearer token"))
			return
		}
		if ok && p.scope < neededScope(r.URL.Path) && !s.openPath(r.URL.Path) {
			s.writeError(w, r, refusal(api.ProblemCodeForbidden, "the token's scope does not reach this far"))
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), principalKey{}, p)))
	})
}

// who is the principal of a request. Every token is compared, in constant time.
func (s *Server) who(r *http.Request) (principal, bool) {
	if len(s.cfg.Tokens) == 0 {
		return principal{owner: localOwner, scope: ScopeAdmin}, true
	}
	secret, ok := bearer(r)
	if !ok {
		return principal{}, false
	}
	h := HashToken(secret)
	found := principal{}
	for _, t := range s.cfg.Tokens {
		if subtle.ConstantTimeCompare(t.Hash[:], h[:]) == 1 {
			found = principal{owner: t.Owner, scope: t.Scope}
		}
	}
	return found, found.scope > ScopeNone
}

// bearer is the token that a request carries. A page cannot set a header on a
// socket, so there it may come as a subprotocol.
func bearer(r *http.Request) (secret string, ok bool) {
	scheme, secret, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if ok && strings.EqualFold(scheme, "bearer") {
		return strings.TrimSpace(secret), true
	}
	if r.URL.Path != "/ws" {
		return "", false
	}
	for _, p := range websocket.Subprotocols(r) {
		coded, is := strings.CutPrefix(p, "bearer.")
		if b, err := base64.RawURLEncoding.DecodeString(coded); is && err == nil {
			return string(b), true
		}
	}
	return "", false
}
