package server

import (
	"net/http"
	"time"
)

// unstalled is a reply that gives up on a client who does not read: one that
// waits for it for ever holds a connection, a goroutine and what was to be
// written, and to read nothing costs a client nothing. Its time begins anew
// with each part that gets through, so that a reply may take as long as it has
// to.
type unstalled struct {
	http.ResponseWriter
	rc     *http.ResponseController
	within time.Duration
	set    time.Time // when the deadline was put off last
}

// unstall gives every reply such a deadline.
func (s *Server) unstall(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u := &unstalled{ResponseWriter: w, rc: http.NewResponseController(w), within: s.cfg.StallTimeout}
		u.putOff() // the connection may have that of its last reply
		next.ServeHTTP(u, r)
	})
}

func (u *unstalled) putOff() {
	now := time.Now()
	if now.Sub(u.set) < u.within/8 {
		return // not for every line of a long reply
	}
	u.set = now
	_ = u.rc.SetWriteDeadline(now.Add(u.within)) // a connection without deadlines is a test's
}

// WriteHeader begins the reply.
func (u *unstalled) WriteHeader(status int) {
	u.putOff()
	u.ResponseWriter.WriteHeader(status)
}

// Write writes a part of the reply.
func (u *unstalled) Write(p []byte) (int, error) {
	u.putOff()
	return u.ResponseWriter.Write(p)
}

// Unwrap is the reply itself, for an http.ResponseController.
func (u *unstalled) Unwrap() http.ResponseWriter { return u.ResponseWriter }
