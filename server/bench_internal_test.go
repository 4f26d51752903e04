package server

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
)

// BenchmarkValidator is what checking a step against the contract would cost.
func BenchmarkValidator(b *testing.B) {
	c, err := newContract()
	if err != nil {
		b.Fatal(err)
	}
	op := c.ops["POST /envs/{id}/step"]
	body := `{"action":"Thought: I need the capital.\nAction: search[Freedonia]","step":3}`
	for b.Loop() {
		r := httptest.NewRequestWithContext(b.Context(), "POST", "/envs/x/step", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		rc := chi.NewRouteContext()
		rc.URLParams.Add("id", "x")
		r = r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, rc))
		if err := op.check(r, []byte(body)); err != nil {
			b.Fatal(err)
		}
	}
}
