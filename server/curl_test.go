package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
)

// TestPlainCurl: "curl -d" calls its JSON a form, and is understood.
func TestPlainCurl(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/envs", strings.NewReader(`{"type":"toy"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		t.Errorf("status %d, want 201", resp.StatusCode)
	}
}
