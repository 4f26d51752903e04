package server

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	proctor "github.com/proctor-rl/proctor"
	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/internal/oapi"
	"github.com/proctor-rl/proctor/server/store"
)

// Server answers requests. Handler serves them, Close ends the sockets.
type Server struct {
	cfg      Config
	mgr      *episode.Manager
	store    store.Store
	metrics  *Metrics
	contract *contract
	events   *hub
	large    *allowance
	handler  http.Handler

	mu      sync.Mutex
	closed  bool
	sockets map[*socket]struct{}
	wg      sync.WaitGroup
}

// New makes a server of an episode manager and a store.
func New(cfg Config, mgr *episode.Manager, st store.Store, metrics *Metrics) (*Server, error) {
	c, err := newContract()
	if err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	s := &Server{cfg: cfg, mgr: mgr, store: st, metrics: metrics, contract: c, events: newHub(cfg.EventsKept), large: newAllowance(cfg.LargeBytes), sockets: map[*socket]struct{}{}}
	mgr.Watch(s.events)
	for _, t := range mgr.Registry().Types() {
		metrics.expect(t.Spec().Name)
	}
	if f, ok := st.(interface{ Failures() int64 }); ok {
		metrics.countStore(f.Failures)
	}
	s.handler = s.routes()
	return s, nil
}

// Handler serves every route.
func (s *Server) Handler() http.Handler { return s.handler }

func (s *Server) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(s.unstall, s.identify, s.sameOrigin, s.authenticate, middleware.GetHead)
	strictHandler := oapi.NewStrictHandlerWithOptions(handlers{s}, nil, oapi.StrictHTTPServerOptions{
		// What cannot be decoded after validation is still the client's doing.
		RequestErrorHandlerFunc: func(w http.ResponseWriter, r *http.Request, _ error) {
			s.writeError(w, r, refusal(api.ProblemCodeInvalidJSON, "the body cannot be decoded"))
		},
		ResponseErrorHandlerFunc: s.writeError,
	})
	oapi.HandlerWithOptions(strictHandler, oapi.ChiServerOptions{
		BaseRouter:  r,
		Middlewares: []oapi.MiddlewareFunc{s.validate},
		ErrorHandlerFunc: func(w http.ResponseWriter, r *http.Request, err error) {
			s.writeError(w, r, parameterRefusal(err))
		},
	})
	r.Post("/envs/{id}/step", func(w http.ResponseWriter, r *http.Request) {
		id := chi.URLParam(r, "id")
		if plain, err := url.PathUnescape(id); err == nil {
			id = plain // as the generated routes do
		}
		s.step(w, r, id, r.Header.Get("Idempotency-Key"))
	})
	r.Get("/ws", s.openSocket)
	r.Method(http.MethodGet, "/metrics", s.metrics.Handler())
	r.Get("/openapi.yaml", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = w.Write([]byte(proctor.OpenAPI())) // the client may be gone
	})
	r.NotFound(s.page)
	r.MethodNotAllowed(func(w http.ResponseWriter, req *http.Request) {
		path := req.URL.RawPath
		if path == "" {
			path = req.URL.Path
		}
		var allowed []string
		for _, m := range []string{http.MethodDelete, http.MethodGet, http.MethodPost, http.MethodPut} {
			if r.Match(chi.NewRouteContext(), m, path) {
				allowed = append(allowed, m)
			}
		}
		s.otherMethod(w, req, allowed)
	})
	return r
}

// otherMethod answers OPTIONS, and refuses every other method that a path does
// not have. Where GET is, HEAD is as well.
func (s *Server) otherMethod(w http.ResponseWriter, r *http.Request, allowed []string) {
	allowed = append(allowed, http.MethodOptions)
	if slices.Contains(allowed, http.MethodGet) {
		allowed = append(allowed, http.MethodHead)
	}
	slices.Sort(allowed)
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.writeError(w, r, refusal(api.ProblemCodeMethodNotAllowed, "the method is not allowed here"))
}

// parameterRefusal says which parameter is wrong, without its value.
func parameterRefusal(err error) error {
	var (
		format  *oapi.InvalidParamFormatError
		missing *oapi.RequiredParamError
		many    *oapi.TooManyValuesForParamError
	)
	switch {
	case errors.As(err, &format):
		return episode.Invalid("/"+format.ParamName, "does not fit its schema")
	case errors.As(err, &missing):
		return episode.Invalid("/"+missing.ParamName, "is required")
	case errors.As(err, &many):
		return episode.Invalid("/"+many.ParamName, "is given more than once")
	}
	return refusal(api.ProblemCodeInvalidField, "a parameter is invalid")
}

// page serves the web page, and a problem for everything else.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	name := s.pageFile(r.URL.Path)
	if name == "" {
		s.writeError(w, r, refusal(api.ProblemCodeNotFound, "nothing is found here"))
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		s.otherMethod(w, r, []string{http.MethodGet})
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	http.ServeFileFS(w, r, s.cfg.Page, name)
}

// pageFile is the page's file for a path, or empty. The page is at / and,
// the same, below /ui/.
func (s *Server) pageFile(path string) string {
	if s.cfg.Page == nil {
		return ""
	}
	name := strings.TrimPrefix(strings.TrimPrefix(path, "/ui"), "/")
	if name == "" {
		name = "index.html"
	}
	if !fs.ValidPath(name) || strings.HasSuffix(name, "/index.html") {
		return ""
	}
	if st, err := fs.Stat(s.cfg.Page, name); err != nil || st.IsDir() {
		return ""
	}
	return name
}

type acceptKey struct{}

// wantsLines says whether a client asked for NDJSON.
func wantsLines(ctx context.Context) bool {
	ok, isBool := ctx.Value(acceptKey{}).(bool)
	return ok && isBool
}

// Close ends every socket, after the events that it is to be told of, and waits
// for them.
func (s *Server) Close() {
	s.events.finish()
	var told sync.WaitGroup
	s.mu.Lock()
	s.closed = true
	for c := range s.sockets {
		told.Go(func() {
			c.caughtUp()
			c.goAway()
		})
	}
	s.mu.Unlock()
	told.Wait()
	s.wg.Wait()
}
