package server_test

import (
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/client"
	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
)

// What an agent writes is kept and given back as long as it is, whichever way
// our client sends it: escaped for HTML, code is up to six times as long. That no
// reply is escaped, the harness checks in every test.
func TestNothingIsEscapedForHTML(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	const said = `echo <b>a && b</b>`
	c, err := client.New(w.url, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := client.Dial(t.Context(), w.url, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	id, ep := w.env(nil)
	calls, err := api.ToolAction("finish", map[string]string{"answer": said})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Step(t.Context(), id, api.StepRequest{Action: api.TextAction(said)}); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Step(t.Context(), id, api.StepRequest{Action: api.TextAction(said)}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.BatchStep(t.Context(), api.BatchStepRequest{Items: []api.BatchStepItem{{EnvID: id, Action: calls}}}); err != nil {
		t.Fatal(err)
	}
	r := w.do("GET", "/episodes/"+ep+"/steps", nil)
	if n := strings.Count(string(r.raw), said); n < 3 || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("said %d times: %s", n, r.raw)
	}
	if r := w.do("GET", "/episodes/export?format=chat", nil); strings.Contains(string(r.raw), `\u003`) {
		t.Errorf("export: %s", r.raw)
	}
}
