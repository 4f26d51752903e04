package server_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	proctor "github.com/proctor-rl/proctor"
	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/internal/oapi"
)

var loadDoc = sync.OnceValues(func() (*openapi3.T, error) {
	return openapi3.NewLoader().LoadFromData([]byte(proctor.OpenAPI()))
})

// conforms checks a reply against openapi.yaml. The harness calls it for every
// reply of every test.
func conforms(tb testing.TB, req *http.Request, r reply) {
	tb.Helper()
	if bytes.Contains(r.raw, []byte(`\u003`)) || bytes.Contains(r.raw, []byte(`\u0026`)) {
		tb.Errorf("%s %s: the reply is escaped for HTML: %.300s", req.Method, req.URL.Path, r.raw)
	}
	if r.header.Get("X-Content-Type-Options") != "nosniff" {
		tb.Errorf("%s %s: a browser may guess what the reply is", req.Method, req.URL.Path)
	}
	doc, err := loadDoc()
	if err != nil {
		tb.Fatal(err)
	}
	// The validator falls back to its 3.0 rules for these schemas anyway, but
	// under 3.1 only after compiling them anew.
	as30 := *doc
	as30.OpenAPI = "3.0.3"
	doc = &as30
	path, item := matchPath(doc, req.URL.Path)
	if item == nil || item.GetOperation(req.Method) == nil {
		return // no route of the contract: the page, or a refusal
	}
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: req,
			Route:   &routers.Route{Spec: doc, Path: path, PathItem: item, Method: req.Method, Operation: item.GetOperation(req.Method)},
		},
		Status: r.status, Header: r.header, Body: io.NopCloser(bytes.NewReader(r.raw)),
		Options: &openapi3filter.Options{ExcludeResponseBody: !strings.Contains(r.header.Get("Content-Type"), "json") || strings.Contains(r.header.Get("Content-Type"), "ndjson")},
	}
	if err := openapi3filter.ValidateResponse(context.Background(), in); err != nil {
		tb.Errorf("%s %s: the reply does not fit the contract: %v", req.Method, req.URL.Path, err)
	}
}

func matchPath(doc *openapi3.T, path string) (string, *openapi3.PathItem) {
	parts := strings.Split(path, "/")
	best, found := "", (*openapi3.PathItem)(nil)
	for p, item := range doc.Paths.Map() {
		want := strings.Split(p, "/")
		ok := len(want) == len(parts)
		for i := 0; ok && i < len(want); i++ {
			ok = want[i] == parts[i] || strings.HasPrefix(want[i], "{")
		}
		if ok && (found == nil || strings.Count(p, "{") < strings.Count(best, "{")) {
			best, found = p, item
		}
	}
	return best, found
}

// The document that is served, the one that routes were generated from and the
// file in the repository are one.
func TestOneContract(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	file, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got := w.do("GET", "/openapi.yaml", nil); string(got.raw) != string(file) {
		t.Error("GET /openapi.yaml is not openapi.yaml")
	}
	doc, err := loadDoc()
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		t.Errorf("openapi.yaml: %v", err)
	}
	gen, err := oapi.GetSpec()
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		g := gen.Paths.Value(path)
		for method := range item.Operations() {
			skipped := path == "/ws" || path == "/metrics" || path == "/openapi.yaml"
			if !skipped && (g == nil || g.GetOperation(method) == nil) {
				t.Errorf("%s %s is not in the embedded contract; run go generate ./api", method, path)
			}
		}
	}
	for name, s := range doc.Components.Schemas {
		g := gen.Components.Schemas[name]
		if g == nil {
			t.Errorf("schema %s is not in the embedded contract; run go generate ./api", name)
			continue
		}
		a, err1 := s.Value.MarshalJSON()
		b, err2 := g.Value.MarshalJSON()
		if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("schema %s differs from the embedded contract; run go generate ./api", name)
		}
	}
}

// Every operation of the contract has a route, and a refusal of every route is
// a problem of the contract.
func TestEveryOperationIsRouted(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	doc, err := loadDoc()
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			p := strings.NewReplacer("{type}", "nope", "{task_id}", "x", "{id}", "nope", "{run_id}", "nope").Replace(path)
			r := w.do(method, p, nil)
			if c := r.str("code"); c == "not-found" || c == "method-not-allowed" || r.status == 500 {
				t.Errorf("%s %s: %d %s", method, path, r.status, r.raw)
			}
		}
	}
}
