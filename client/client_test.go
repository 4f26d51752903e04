package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newClient(t *testing.T, h http.HandlerFunc, o client.Options) *client.Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c, err := client.New(srv.URL, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func refuse(w http.ResponseWriter, status int, code string, retryable bool) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"code": code, "status": status, "retryable": retryable, "detail": "d", "retry_after_ms": 1})
}

func TestErrorsAreTyped(t *testing.T) {
	c := newClient(t, func(w http.ResponseWriter, _ *http.Request) { refuse(w, 409, "episode-over", false) }, client.Options{})
	_, err := c.Step(t.Context(), "e", api.StepRequest{Action: api.TextAction("a")})
	var e *client.Error
	if !errors.As(err, &e) || e.Status != 409 || e.Detail != "d" || client.CodeOf(err) != api.ProblemCodeEpisodeOver || client.Retryable(err) {
		t.Errorf("got %v", err)
	}
	if !errors.Is(err, client.Code(api.ProblemCodeEpisodeOver)) || errors.Is(err, client.Code(api.ProblemCodeEnvNotFound)) {
		t.Error("errors.Is does not go by the code")
	}
	// A proxy's page is an error as well, and no panic.
	c = newClient(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusBadGateway) }, client.Options{Retries: -1})
	if _, err := c.Env(t.Context(), "e"); !client.Retryable(err) {
		t.Errorf("got %v", err)
	}
}

// A step is repeated with the very same index or key, a score never.
func TestRetriesOnlyWhereSafe(t *testing.T) {
	var mu sync.Mutex
	var keys, bodies []string
	flaky := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		b := make([]byte, 200)
		n, _ := r.Body.Read(b) // a short body comes in one piece
		keys, bodies = append(keys, r.Header.Get("Idempotency-Key")), append(bodies, string(b[:n]))
		if len(keys) < 3 {
			refuse(w, 503, "sandbox-unavailable", true)
			return
		}
		_, _ = w.Write([]byte(`{"env_id":"e","reward":0.5}`))
	}
	c := newClient(t, flaky, client.Options{})
	r, err := c.Step(t.Context(), "e", api.StepRequest{Action: api.TextAction("a")})
	if err != nil || *r.Reward != 0.5 || len(keys) != 3 || keys[0] == "" || keys[0] != keys[2] || bodies[0] != bodies[2] {
		t.Errorf("%v %q %q", err, keys, bodies)
	}
	keys, bodies = nil, nil
	if _, err := c.Score(t.Context(), "e"); client.CodeOf(err) != api.ProblemCodeSandboxUnavailable || len(keys) != 1 {
		t.Errorf("a score was sent %d times: %v", len(keys), err)
	}
}

func TestGivesUpInTime(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	c := newClient(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-stop:
		}
	}, client.Options{Timeout: 50 * time.Millisecond})
	begin := time.Now()
	if _, err := c.Env(t.Context(), "e"); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

// socket serves frames with f, which may answer late or not at all.
func socket(t *testing.T, f func(ws *websocket.Conn, frame map[string]any)) *client.Conn {
	t.Helper()
	up := websocket.Upgrader{Subprotocols: []string{client.Subprotocol}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close() // a test's server
		for {
			var m map[string]any
			if ws.ReadJSON(&m) != nil {
				return
			}
			f(ws, m)
		}
	}))
	t.Cleanup(srv.Close)
	c, err := client.Dial(t.Context(), srv.URL, client.Options{Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Replies find their callers whatever their order, and events disturb nobody.
func TestConnMatchesReplies(t *testing.T) {
	var held []map[string]any
	c := socket(t, func(ws *websocket.Conn, m map[string]any) {
		held = append(held, m)
		if len(held) < 32 {
			return
		}
		_ = ws.WriteJSON(map[string]any{"event": "draining"})
		for i := len(held) - 1; i >= 0; i-- {
			_ = ws.WriteJSON(map[string]any{"id": held[i]["id"], "ok": true, "result": map[string]any{"env_id": held[i]["env_id"]}})
		}
	})
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			id := strings.Repeat("x", i+1)
			r, err := c.Step(context.Background(), id, api.StepRequest{Action: api.TextAction("a")})
			if err != nil || r.EnvID != id {
				t.Errorf("asked for %s, got %s %v", id, r.EnvID, err)
			}
		})
	}
	wg.Wait()
}

func TestConnEndsItsCallers(t *testing.T) {
	var n atomic.Int64
	c := socket(t, func(ws *websocket.Conn, m map[string]any) {
		if n.Add(1) == 1 {
			_ = ws.WriteJSON(map[string]any{"id": m["id"], "ok": false, "problem": map[string]any{"code": "env-not-found", "status": 404}})
			return
		}
		_ = ws.Close() // in the middle of a call
	})
	if _, err := c.Attach(t.Context(), "e"); client.CodeOf(err) != api.ProblemCodeEnvNotFound {
		t.Errorf("got %v", err)
	}
	if err := c.Ping(t.Context()); !errors.Is(err, client.ErrClosed) {
		t.Errorf("a call on a dying socket: %v", err)
	}
	if err := c.Ping(t.Context()); !errors.Is(err, client.ErrClosed) {
		t.Errorf("a call on a dead socket: %v", err)
	}
}

func TestDialSpeaksOfRefusal(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { refuse(w, 401, "unauthenticated", false) }))
	defer srv.Close()
	if _, err := client.Dial(t.Context(), srv.URL, client.Options{}); client.CodeOf(err) != api.ProblemCodeUnauthenticated {
		t.Errorf("got %v", err)
	}
	if _, err := client.New("ftp://x", client.Options{}); err == nil {
		t.Error("a nonsense address was taken")
	}
}
