package server_test

import (
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
)

// Every kind of bad request has its own problem, and none a 500.
func TestRefusals(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{MaxBody: 400_000})
	fresh := w.do("POST", "/envs", map[string]any{"type": "toy", "id": "fresh"}).str("env_id")
	id, ep := w.env(nil)
	over, _ := w.env(nil)
	w.step(over, "finish[42]")
	deep := `{"action":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`
	lim := func(v string) string { return `{"limits":{"max_steps":` + v + `}}` }
	tests := []struct {
		name, method, path, body string
		header                   []string
		status                   int
		code                     string
		pointer                  string
	}{
		{"no JSON", "POST", "/envs/" + id + "/step", `{"action":`, nil, 400, "invalid-json", ""},
		{"NaN", "POST", "/envs/" + id + "/step", `{"action":NaN}`, nil, 400, "invalid-json", ""},
		{"no body", "POST", "/envs/" + id + "/step", ``, nil, 400, "invalid-json", ""},
		{"two documents", "POST", "/envs/" + id + "/step", `{"action":"a"}{}`, nil, 400, "invalid-json", ""},
		{"100,000 deep", "POST", "/envs/" + id + "/step", deep, nil, 400, "invalid-json", ""},
		{"deep reset", "POST", "/envs/" + id + "/reset", strings.Replace(deep, "action", "task_id", 1), nil, 400, "invalid-json", ""},
		{"invalid UTF-8", "POST", "/envs/" + id + "/step", "{\"action\":\"\xff\xfe\"}", nil, 400, "invalid-json", ""},
		{"list", "POST", "/envs/" + id + "/step", `[]`, nil, 422, "invalid-field", ""},
		{"oversize", "POST", "/envs/" + id + "/step", `{"action":"` + strings.Repeat("a", 400_000) + `"}`, nil, 413, "body-too-large", ""},
		{"oversize create", "POST", "/envs", `{"type":"` + strings.Repeat("a", 400_000) + `"}`, nil, 413, "body-too-large", ""},
		{"form", "POST", "/envs", `type=toy`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "unsupported-media-type", ""},
		{"form from a page", "POST", "/envs", `{"type":"toy"}`, []string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin"}, 415, "unsupported-media-type", ""},
		{"foreign page", "POST", "/envs/" + id + "/reset", ``, []string{"Origin", "http://evil.example"}, 403, "forbidden", ""},
		{"foreign page of a new browser", "POST", "/envs/" + id + "/reset", ``, []string{"Sec-Fetch-Site", "cross-site"}, 403, "forbidden", ""},
		{"gzip", "POST", "/envs", `{"type":"toy"}`, []string{"Content-Encoding", "gzip"}, 415, "unsupported-media-type", ""},
		{"gzip step", "POST", "/envs/" + id + "/step", "\x1f\x8b\x08", []string{"Content-Encoding", "gzip"}, 415, "unsupported-media-type", ""},
		{"utf-16", "POST", "/envs", `{"type":"toy"}`, []string{"Content-Type", "application/json; charset=utf-16"}, 415, "unsupported-media-type", ""},
		{"text step", "POST", "/envs/" + id + "/step", `{"action":"a"}`, []string{"Content-Type", "text/plain"}, 415, "unsupported-media-type", ""},

		{"client sends reward", "POST", "/envs/" + id + "/step", `{"action":"a","reward":1}`, nil, 422, "unknown-field", "/reward"},
		{"other case", "POST", "/envs/" + id + "/step", `{"Action":"a","action":"b"}`, nil, 422, "unknown-field", "/Action"},
		{"twice", "POST", "/envs/" + id + "/step", `{"action":"a","action":"b"}`, nil, 422, "invalid-field", "/action"},
		{"unknown in create", "POST", "/envs", `{"type":"toy","cpu":9}`, nil, 422, "unknown-field", "/cpu"},
		{"unknown in limits", "POST", "/envs/" + id + "/reset", `{"limits":{"steps":1}}`, nil, 422, "unknown-field", "/limits/steps"},
		{"body where none is", "POST", "/envs/" + id + "/score", `{"reward":1}`, nil, 422, "unknown-field", "/reward"},
		{"action missing", "POST", "/envs/" + id + "/step", `{}`, nil, 422, "invalid-field", "/action"},
		{"action null", "POST", "/envs/" + id + "/step", `{"action":null}`, nil, 422, "invalid-field", "/action"},
		{"action number", "POST", "/envs/" + id + "/step", `{"action":5}`, nil, 422, "invalid-field", "/action"},
		{"action two shapes", "POST", "/envs/" + id + "/step", `{"action":{"text":"a","tool_calls":[]}}`, nil, 422, "invalid-field", "/action"},
		{"action text number", "POST", "/envs/" + id + "/step", `{"action":{"text":1}}`, nil, 422, "invalid-field", "/action/text"},
		{"action other key", "POST", "/envs/" + id + "/step", `{"action":{"reward":1}}`, nil, 422, "unknown-field", "/action"},
		{"step text", "POST", "/envs/" + id + "/step", `{"action":"a","step":"0"}`, nil, 422, "invalid-field", "/step"},
		{"step negative", "POST", "/envs/" + id + "/step", `{"action":"a","step":-1}`, nil, 422, "invalid-field", "/step"},
		{"step fraction", "POST", "/envs/" + id + "/step", `{"action":"a","step":0.5}`, nil, 422, "invalid-field", "/step"},
		{"timeout zero", "POST", "/envs/" + id + "/step", `{"action":"a","timeout_ms":0}`, nil, 422, "invalid-field", "/timeout_ms"},
		{"limit negative", "POST", "/envs/" + id + "/reset", lim("-1"), nil, 422, "invalid-field", "/limits/max_steps"},
		{"limit zero", "POST", "/envs/" + id + "/reset", lim("0"), nil, 422, "invalid-field", "/limits/max_steps"},
		{"limit absurd", "POST", "/envs/" + id + "/reset", lim("1000000000000000000"), nil, 422, "invalid-field", "/limits/max_steps"},
		{"limit beyond int", "POST", "/envs/" + id + "/reset", lim("1e18"), nil, 422, "invalid-field", "/limits/max_steps"},
		{"limit above the type's", "POST", "/envs/" + id + "/reset", lim("1001"), nil, 422, "invalid-field", "/limits/max_steps"},
		{"limit fraction", "POST", "/envs/" + id + "/reset", lim("2.5"), nil, 422, "invalid-field", "/limits/max_steps"},
		{"limit text", "POST", "/envs/" + id + "/reset", lim(`"9999"`), nil, 422, "invalid-field", "/limits/max_steps"},
		{"limit null", "POST", "/envs/" + id + "/reset", lim(`null`), nil, 422, "invalid-field", "/limits/max_steps"},
		{"limit in create", "POST", "/envs", `{"type":"toy","limits":{"max_tool_calls":-5}}`, nil, 422, "invalid-field", "/limits/max_tool_calls"},
		{"ttl zero", "POST", "/envs", `{"type":"toy","ttl_seconds":0}`, nil, 422, "invalid-field", "/ttl_seconds"},
		{"count absurd", "POST", "/envs", `{"type":"toy","count":1000000}`, nil, 422, "invalid-field", "/count"},
		{"id with slash", "POST", "/envs", `{"type":"toy","id":"../x"}`, nil, 422, "invalid-field", "/id"},
		{"id in use", "POST", "/envs", `{"type":"toy","id":"fresh"}`, nil, 422, "invalid-field", "/id"},
		{"type missing", "POST", "/envs", `{}`, nil, 422, "invalid-field", "/type"},
		{"version", "POST", "/envs", `{"type":"toy","version":"9.9.9"}`, nil, 422, "invalid-field", "/version"},
		{"split unknown", "POST", "/envs/" + id + "/reset", `{"split":"gold"}`, nil, 422, "invalid-field", "/split"},
		{"index negative", "POST", "/envs/" + id + "/reset", `{"index":-1}`, nil, 422, "invalid-field", "/index"},
		{"seed text", "POST", "/envs/" + id + "/reset", `{"seed":"1"}`, nil, 422, "invalid-field", "/seed"},
		{"page limit", "GET", "/episodes?limit=0", ``, nil, 422, "invalid-field", "/limit"},
		{"page limit text", "GET", "/episodes?limit=x", ``, nil, 422, "invalid-field", "/limit"},
		{"status unknown", "GET", "/episodes?status=won", ``, nil, 422, "invalid-field", "/status"},
		{"cursor", "GET", "/episodes?cursor=zzz", ``, nil, 422, "invalid-field", "/cursor"},

		{"type unknown", "POST", "/envs", `{"type":"nope"}`, nil, 404, "env-type-not-found", ""},
		{"type unknown read", "GET", "/env-types/nope", ``, nil, 404, "env-type-not-found", ""},
		{"env unknown", "POST", "/envs/nope/step", `{"action":"a"}`, nil, 404, "env-not-found", ""},
		{"env unknown delete", "DELETE", "/envs/nope", ``, nil, 404, "env-not-found", ""},
		{"task unknown", "POST", "/envs/" + id + "/reset", `{"task_id":"../../etc/passwd"}`, nil, 404, "task-not-found", ""},
		{"task of another split", "POST", "/envs/" + id + "/reset", `{"task_id":"train-1","split":"test"}`, nil, 404, "task-not-found", ""},
		{"task path trick", "GET", "/env-types/toy/tasks/..%2f..%2fgold", ``, nil, 404, "task-not-found", ""},
		{"index too far", "POST", "/envs/" + id + "/reset", `{"split":"test","index":10}`, nil, 404, "task-not-found", ""},
		{"split without tasks", "POST", "/envs/" + id + "/reset", `{"split":"user"}`, nil, 404, "task-not-found", ""},
		{"episode unknown", "GET", "/episodes/nope", ``, nil, 404, "episode-not-found", ""},
		{"snapshot unknown", "DELETE", "/snapshots/nope", ``, nil, 404, "snapshot-not-found", ""},
		{"run unknown", "GET", "/runs/nope/points", ``, nil, 404, "run-not-found", ""},
		{"path unknown", "GET", "/state/x", ``, nil, 404, "not-found", ""},
		{"method", "PUT", "/envs", `{}`, nil, 405, "method-not-allowed", ""},

		{"step before reset", "POST", "/envs/" + fresh + "/step", `{"action":"a"}`, nil, 409, "reset-required", ""},
		{"score before reset", "POST", "/envs/" + fresh + "/score", ``, nil, 409, "reset-required", ""},
		{"step after the end", "POST", "/envs/" + over + "/step", `{"action":"finish[42]"}`, nil, 409, "episode-over", ""},
		{"score after the end", "POST", "/envs/" + over + "/score", ``, nil, 409, "episode-over", ""},
		{"ahead", "POST", "/envs/" + id + "/step", `{"action":"a","step":7}`, nil, 409, "step-out-of-order", ""},
		{"other action again", "POST", "/envs/" + over + "/step", `{"action":"finish[41]","step":0}`, nil, 409, "step-conflict", ""},
		{"other episode", "POST", "/envs/" + id + "/step", `{"action":"a","episode_id":"ep_x"}`, nil, 409, "episode-over", ""},
		{"replay while running", "POST", "/episodes/" + ep + "/replay", ``, nil, 409, "step-in-progress", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var body any
			if tt.body != "" {
				body = tt.body
			}
			w := *w
			w.t = t
			r := w.do(tt.method, tt.path, body, tt.header...)
			wantProblem(t, r, tt.status, tt.code)
			if tt.pointer != "" && !strings.Contains(string(r.raw), `"pointer":"`+tt.pointer+`"`) {
				t.Errorf("no pointer %s in %s", tt.pointer, r.raw)
			}
		})
	}
	if n := w.step(id, "still alive").status; n != 200 {
		t.Errorf("the env no longer plays: %d", n)
	}
}

// What the agent says, however garbled, is an outcome and never a refusal.
func TestAgentGarbageIsAnOutcome(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	id, _ := w.env(nil)
	for _, action := range []string{
		`"garbage"`, `""`, `{"text":"garbage"}`, `{"tool_calls":[]}`, `{"tool_calls":[{}]}`, `{"tool_calls":[{"function":{"name":5}}]}`,
		`{"tool_calls":[{"id":"c","function":{"name":"x","arguments":"{not json"}}]}`, `{"message":{"role":"assistant","content":null}}`,
		`{"message":{"content":[{"type":"text","text":"hi"}]}}`, `"\u0000\u001b[31m"`,
	} {
		if r := w.do("POST", "/envs/"+id+"/step", `{"action":`+action+`}`); r.status != 200 || r.m["done"] != false {
			t.Errorf("%s: %d %s", action, r.status, r.raw)
		}
	}
}
