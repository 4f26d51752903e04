package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
)

// A body is JSON where it says so, where nothing is said, and where "curl -d"
// calls it a form. What a browser's page can send without asking is not taken, and
// a refusal says what to add.
func TestContentTypes(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	env, _ := w.env(nil)
	for _, path := range []string{"/envs", "/envs/" + env + "/step", "/batch/step"} {
		body := map[string]string{
			"/envs": `{"type":"toy"}`, "/envs/" + env + "/step": `{"action":"noop"}`,
			"/batch/step": `{"items":[{"env_id":"` + env + `","action":"noop"}]}`,
		}[path]
		for _, tt := range []struct {
			name   string
			header http.Header
			ok     bool
		}{
			{"JSON", http.Header{"Content-Type": {"application/json; charset=utf-8"}}, true},
			{"nothing", http.Header{}, true},
			{"curl -d", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, true},
			{"nothing from a page", http.Header{"Sec-Fetch-Site": {"same-origin"}}, false},
			{"an empty name", http.Header{"Content-Type": {""}}, false},
			{"text", http.Header{"Content-Type": {"text/plain"}}, false},
		} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = tt.header
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			said, err := io.ReadAll(resp.Body)
			if err != nil || resp.Body.Close() != nil {
				t.Fatal(err)
			}
			if ok := resp.StatusCode/100 == 2; ok != tt.ok || !ok && (resp.StatusCode != http.StatusUnsupportedMediaType || !strings.Contains(string(said), "-H 'Content-Type: application/json'")) {
				t.Errorf("%s with %s: %d %s", path, tt.name, resp.StatusCode, said)
			}
		}
	}
}
