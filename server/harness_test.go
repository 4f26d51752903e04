package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/internal/toy"
	"github.com/proctor-rl/proctor/server/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a whole server over HTTP with the toy environment.
type world struct {
	t       testing.TB
	url     string
	toy     *toy.Type
	mgr     *episode.Manager
	store   *store.SQLite
	srv     *server.Server
	http    *httptest.Server
	metrics *server.Metrics
	log     *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func serve(tb testing.TB, mcfg episode.Config, scfg server.Config) *world {
	tb.Helper()
	w := &world{t: tb, toy: &toy.Type{}, log: &lockedBuffer{}}
	log := slog.New(slog.NewTextHandler(w.log, nil))
	mcfg.Log, scfg.Log = log, log
	reg := &envs.Registry{}
	reg.Register(w.toy)
	st, err := store.Open(context.Background(), tb.TempDir(), log)
	if err != nil {
		tb.Fatal(err)
	}
	w.store = st
	w.metrics = server.NewMetrics(api.Version{Version: "test"})
	w.mgr = episode.New(mcfg, reg, server.Recorder(st), w.metrics)
	w.srv, err = server.New(scfg, w.mgr, st, w.metrics)
	if err != nil {
		tb.Fatal(err)
	}
	w.http = httptest.NewServer(w.srv.Handler())
	w.url = w.http.URL
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		w.mgr.Drain(ctx)
		w.srv.Close()
		w.http.Close()
		http.DefaultClient.CloseIdleConnections()
		if err := st.Close(); err != nil {
			tb.Error(err)
		}
		if n := w.toy.Open.Load(); n != 0 {
			tb.Errorf("%d envs were never closed", n)
		}
	})
	return w
}

// reply is an HTTP answer, decoded.
type reply struct {
	status int
	header http.Header
	raw    []byte
	m      map[string]any
}

func (r reply) str(k string) string {
	s, _ := r.m[k].(string)
	return s
}

// do sends a request. A string body goes as it is, anything else as JSON.
func (w *world) do(method, path string, body any, header ...string) reply {
	w.t.Helper()
	var rd io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		rd = strings.NewReader(b)
	default:
		j, err := json.Marshal(b)
		if err != nil {
			w.t.Fatal(err)
		}
		rd = bytes.NewReader(j)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, w.url+path, rd)
	if err != nil {
		w.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close() // read whole
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	out := reply{status: resp.StatusCode, header: resp.Header, raw: raw}
	_ = json.Unmarshal(raw, &out.m) // NDJSON and texts are no single document
	conforms(w.t, req, out)
	return out
}

// env makes an env and resets it.
func (w *world) env(reset any) (id, ep string) {
	w.t.Helper()
	r := w.do("POST", "/envs", map[string]any{"type": "toy"})
	if r.status != http.StatusCreated {
		w.t.Fatalf("create: %d %s", r.status, r.raw)
	}
	id = r.str("env_id")
	r = w.do("POST", "/envs/"+id+"/reset", reset)
	if r.status != http.StatusOK {
		w.t.Fatalf("reset: %d %s", r.status, r.raw)
	}
	return id, r.str("episode_id")
}

func (w *world) step(id, action string, more ...any) reply {
	w.t.Helper()
	b := map[string]any{"action": action}
	for i := 0; i+1 < len(more); i += 2 {
		b[more[i].(string)] = more[i+1] // a test's own list
	}
	return w.do("POST", "/envs/"+id+"/step", b)
}

// wantProblem checks that r is a problem document of a code.
func wantProblem(tb testing.TB, r reply, status int, code string) {
	tb.Helper()
	if r.status != status || r.str("code") != code {
		tb.Fatalf("got %d %q, want %d %q: %s", r.status, r.str("code"), status, code, r.raw)
	}
	if ct := r.header.Get("Content-Type"); ct != "application/problem+json" {
		tb.Errorf("content type %q", ct)
	}
	for _, k := range []string{"type", "title", "status", "code", "retryable", "effect", "request_id"} {
		if _, ok := r.m[k]; !ok {
			tb.Errorf("problem without %s: %s", k, r.raw)
		}
	}
	if strings.Contains(string(r.raw), toy.Secret) {
		tb.Errorf("an internal text got out: %s", r.raw)
	}
}

// eventually waits for cond within a bounded time.
func eventually(tb testing.TB, what string, cond func() bool) {
	tb.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !cond() {
		if time.Now().After(deadline) {
			tb.Fatalf("never came true: %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}
