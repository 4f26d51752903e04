//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/parquet-go/parquet-go"
	"go.yaml.in/yaml/v3"

	proctordoc "github.com/proctor-rl/proctor"
)

// What nobody but the grader may see. Each has a letter behind it, for where it stands.
const canary = "heron7431"

var canaryTasks = map[string]string{
	"codefix/cases.json": `{"id": "cases", "prompt": "f(x) is what it should be.",
 "files": {"solution.py": "def f(x):\n    return 0\n", "test_solution.py": "from solution import f\n\ndef test_one():\n    assert f('a') == 1\n"},
 "fixed": "def f(x):\n    return 'heron7431G'\n",
 "hidden_cases": [{"fn": "f", "args": ["heron7431A"], "want": "heron7431W"}, {"fn": "f", "args": [2], "want": "heron7431V"}, {"fn": "f", "args": [3], "raises": "ValueError"}]}`,
	"codefix/tests.json": `{"id": "tests", "prompt": "f(x) is what it should be.",
 "files": {"solution.py": "def f(x):\n    return 0\n", "test_solution.py": "from solution import f\n\ndef test_one():\n    assert f('a') == 1\n"},
 "fixed": "def f(x):\n    return 'heron7431G'\n",
 "hidden_test": "from solution import f\n\ndef test_heron7431N():\n    'heron7431D'\n    assert f('heron7431B') == 'heron7431E', 'heron7431M'\n"}`,
	"react/cases.json": `{"id": "cases", "question": "Which bird is it?", "documents": [{"title": "Birds", "text": "There are birds. One of them stands."}],
 "answers": [{"type": "string", "value": "heron7431S", "aliases": ["heron7431T"]}]}`,
	"react/tests.json": `{"id": "tests", "question": "How many birds?", "documents": [{"title": "Birds", "text": "There are birds. One of them stands."}],
 "answers": [{"type": "string", "value": "heron7431U"}]}`,
}

// searching is code of an agent that looks for the canary wherever code can
// look, at import and in each call. What it finds it returns, so that a grader
// that can be read from is paid; of what is called it tells in every way there is.
const searching = `
import gc, os, sys

WORD = "heron" + "7431"

def look():
    found = []
    for k, v in os.environ.items():
        if WORD in k + v: found.append("environ")
    for a in sys.argv + sys.orig_argv:
        if WORD in a: found.append("argv")
    for top in ("/home", "/tmp", "/proc", "/dev", "/etc", "/run", "/var", "/sys", os.getcwd(), sys.prefix + "/local"):
        for d, _, names in os.walk(top):
            for n in names:
                p = os.path.join(d, n)
                try:
                    if os.path.isfile(p) and os.path.getsize(p) < 1 << 20 and WORD.encode() in open(p, "rb").read(): found.append(p)
                except OSError: pass
    for fd in range(64):
        try:
            if WORD in os.readlink("/proc/self/fd/%d" % fd): found.append("fd")
        except OSError: pass
    return found

def objects(skip):
    for o in gc.get_objects():
        for x in gc.get_referents(o):
            if type(x) is str and len(x) > len(WORD) and WORD in x and x not in skip: return x
    f = sys._getframe()
    while f:
        for x in f.f_locals.values():
            if type(x) is str and len(x) > len(WORD) and WORD in x and x not in skip: return x
        f = f.f_back

def f(x):
    # What it was asked it knows; that must not come out either.
    print("called", x)
    sys.stderr.write(repr(x))
    open("/home/tmp/called", "w").write(repr(x))
    os.write(1, repr(x).encode())
    got = objects([x])
    if got: return got
    if x == 3: raise type(str(x), (ValueError,), {})(x)
    raise type(str(x), (Exception,), {"__module__": str(x)})(x)

print("found", look(), objects([]) is not None)
`

// record is everything that came out of a server.
type record struct {
	t    *testing.T
	base string
	mu   sync.Mutex
	out  bytes.Buffer
	done map[string]bool // operations of the contract that were used
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Write(b)
}

// call uses an operation, "GET /envs/{id}" with what to put in place of the
// braces, and returns the reply's body.
func (r *record) call(op, id, query string, body any) map[string]any {
	r.t.Helper()
	method, path, _ := strings.Cut(op, " ")
	if regexp.MustCompile(`\{task_id\}`).MatchString(path) {
		path = strings.NewReplacer("{type}", strings.Split(id, " ")[0], "{task_id}", strings.Split(id, " ")[1]).Replace(path)
	}
	path = regexp.MustCompile(`\{[a-z_]+\}`).ReplaceAllLiteralString(path, id)
	data, err := json.Marshal(body)
	if err != nil {
		r.t.Fatal(err)
	}
	if body == nil {
		data = nil
	}
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.base+path+query, bytes.NewReader(data))
	if err != nil {
		r.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close() // read to its end below
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	r.done[op] = true
	fmt.Fprintf(r, "\n%s %s %v\n%s\n", op, query, resp.Header, raw)
	if strings.Contains(query, "parquet") {
		r.parquet(raw)
	}
	var m map[string]any
	_ = json.Unmarshal(raw, &m) // not all is JSON
	return m
}

func (r *record) parquet(raw []byte) {
	f, err := parquet.OpenFile(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		r.t.Fatal(err)
	}
	rows := make([]map[string]any, f.NumRows())
	for i := range rows {
		rows[i] = map[string]any{}
	}
	n, err := parquet.NewGenericReader[map[string]any](f, f.Schema()).Read(rows)
	if err != nil && !errors.Is(err, io.EOF) || n == 0 {
		r.t.Fatal(n, err)
	}
	fmt.Fprintf(r, "\nparquet %+v\n", rows)
}

// play plays an episode to its end and returns what it earned, with its id.
func (r *record) play(envType, task string, actions ...any) (reward float64, episode, env string) {
	r.t.Helper()
	env, _ = r.call("POST /envs", "", "", map[string]any{"type": envType})["env_id"].(string)
	m := r.call("POST /envs/{id}/reset", env, "", map[string]any{"task_id": task, "split": "user"})
	episode, _ = m["episode_id"].(string)
	for _, a := range actions {
		m = r.call("POST /envs/{id}/step", env, "", map[string]any{"action": a})
		v, ok := m["reward"].(float64)
		if !ok {
			r.t.Errorf("%s, %s: no reward: %v", envType, task, m)
		}
		reward += v
	}
	return reward, episode, env
}

// socket uses every operation of the socket, beside a subscription to all.
func (r *record) socket(envType, task string, action any) {
	r.t.Helper()
	c, resp, err := websocket.DefaultDialer.DialContext(r.t.Context(), "ws"+strings.TrimPrefix(r.base, "http")+"/ws", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	resp.Body.Close()
	defer c.Close() // the last frame has been answered
	id := 0
	used := map[string]bool{}
	ask := func(op string, fields map[string]any) {
		id++
		frame := map[string]any{"id": id, "op": op}
		for k, v := range fields {
			frame[k] = v
		}
		used[op] = true
		if err := c.WriteJSON(frame); err != nil {
			r.t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(time.Minute)) // a failure shows in the read
		for {
			_, raw, err := c.ReadMessage()
			if err != nil {
				r.t.Fatal(op, err)
			}
			fmt.Fprintf(r, "\nws %s\n", raw)
			var m map[string]any
			if err := json.Unmarshal(raw, &m); err != nil {
				r.t.Fatal(err)
			}
			if _, reply := m["ok"]; reply && fmt.Sprint(m["id"]) == fmt.Sprint(id) {
				return
			}
		}
	}
	env := "ws-" + envType + "-" + task
	ask("subscribe", map[string]any{"events": []string{"episode", "step", "run", "points", "draining"}})
	ask("create", map[string]any{"type": envType, "env_id": env})
	for _, last := range []string{"step", "batch_step", "score"} {
		ask("reset", map[string]any{"env_id": env, "task_id": task, "split": "user"})
		ask("attach", map[string]any{"env_id": env})
		switch last {
		case "step":
			ask("step", map[string]any{"env_id": env, "action": action})
		case "batch_step":
			ask("batch_step", map[string]any{"items": []any{map[string]any{"env_id": env, "action": action}}})
		}
		ask("score", map[string]any{"env_id": env})
	}
	ask("close", map[string]any{"env_id": env})
	ask("cancel", map[string]any{"target": 1})
	ask("ping", nil)
	r.done["GET /ws"] = true
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Enum []string `yaml:"enum"`
			} `yaml:"schemas"`
		} `yaml:"components"`
	}
	if err := yaml.Unmarshal([]byte(proctordoc.OpenAPI()), &doc); err != nil {
		r.t.Fatal(err)
	}
	ops := doc.Components.Schemas["WsOp"].Enum
	if len(ops) == 0 {
		r.t.Error("the contract has no operations of the socket")
	}
	for _, op := range ops {
		if !used[op] {
			r.t.Errorf("the operation %s of the socket is not used here", op)
		}
	}
}

// operations are those of the contract, "GET /envs".
func operations(t *testing.T) []string {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]any `yaml:"paths"`
	}
	if err := yaml.Unmarshal([]byte(proctordoc.OpenAPI()), &doc); err != nil {
		t.Fatal(err)
	}
	var out []string
	for path, ops := range doc.Paths {
		for method := range ops {
			if slices.Contains([]string{"get", "put", "post", "patch", "delete", "head", "options"}, method) {
				out = append(out, strings.ToUpper(method)+" "+path)
			}
		}
	}
	return out
}

// Nothing that only the grader may know comes out of a server, by any operation
// of the contract, in its log or in what it writes; and no agent finds it.
func TestCanary(t *testing.T) {
	edit, err := toolCalls("edit_file", map[string]any{"path": "solution.py", "content": searching})
	if err != nil {
		t.Fatal(err)
	}
	run, err := toolCall("run_tests", "x", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		envType string
		actions []any
	}{
		{"codefix", []any{edit, "Action: run_tests()", run, "Action: read_file({\"path\": \"/hidden_test.py\"})", "Action: read_file({\"path\": \"test_checks.py\"})", "Action: finish()"}},
		{"react", []any{"Action: search[bird]", "Action: lookup[heron]", "Action: search[answer]", "Action: calculator[1/0]", "nonsense", "Action: finish[herons 7431]"}},
	} {
		t.Run(c.envType, func(t *testing.T) {
			tasks, data := t.TempDir(), t.TempDir()
			for name, text := range canaryTasks {
				name = filepath.Join(tasks, name)
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			r := &record{t: t, done: map[string]bool{}}
			r.base = serveLogging(t, r, "--tasks", tasks, "--data", data, "--log-level", "debug")
			var episode string
			for _, task := range []string{"cases", "tests"} {
				var reward float64
				if reward, episode, _ = r.play(c.envType, task, c.actions...); reward != 0 {
					t.Errorf("%s: something was found: earned %g", task, reward)
				}
				r.call("GET /env-types/{type}/tasks/{task_id}", c.envType+" "+task, "", nil)
				r.call("POST /episodes/{id}/replay", episode, "", nil)
				r.call("GET /episodes/{id}", episode, "", nil)
				r.call("GET /episodes/{id}/steps", episode, "", nil)
				r.socket(c.envType, task, c.actions[len(c.actions)-1])
			}
			r.rest(c.envType, c.actions)
			for _, op := range operations(t) {
				if !r.done[op] {
					t.Errorf("%s is not used here", op)
				}
			}
			r.processes()
			r.files(data)
			r.mu.Lock()
			defer r.mu.Unlock()
			if !strings.Contains(r.out.String(), `"level":"DEBUG"`) && !strings.Contains(r.out.String(), `"level":"INFO"`) {
				t.Error("the log is not among what is looked through")
			}
			for _, m := range regexp.MustCompile(canary+"[A-Z]").FindAllStringIndex(r.out.String(), 20) {
				t.Errorf("it came out: %.300q", r.out.String()[max(0, m[0]-150):m[1]])
			}
		})
	}
}

// rest uses the operations that no episode needs.
func (r *record) rest(envType string, actions []any) {
	for _, op := range []string{"GET /env-types", "GET /envs", "GET /episodes", "GET /runs", "GET /healthz", "GET /readyz", "GET /metrics", "GET /version", "GET /openapi.yaml"} {
		r.call(op, "", "", nil)
	}
	r.call("GET /env-types/{type}", envType, "", nil)
	r.call("GET /env-types/{type}/tools", envType, "", nil)
	r.call("GET /env-types/{type}/tasks", envType, "?split=user&limit=10", nil)
	for _, format := range []string{"jsonl", "chat", "trl", "parquet"} {
		r.call("GET /episodes/export", "", "?format="+format, nil)
	}
	env, _ := r.call("POST /envs", "", "", map[string]any{"type": envType})["env_id"].(string)
	start := map[string]any{"task_id": "tests", "split": "user"}
	r.call("POST /batch/reset", "", "", map[string]any{"items": []any{map[string]any{"env_id": env, "task_id": "tests", "split": "user"}}})
	r.call("POST /batch/step", "", "", map[string]any{"items": []any{map[string]any{"env_id": env, "action": actions[0]}}})
	snapshot, _ := r.call("POST /envs/{id}/snapshot", env, "", nil)["snapshot_id"].(string)
	r.call("DELETE /snapshots/{snapshot_id}", snapshot, "", nil)
	r.call("POST /envs/{id}/fork", env, "", map[string]any{"count": 2})
	r.call("GET /envs/{id}", env, "", nil)
	r.call("POST /envs/{id}/score", env, "", nil)
	// What is wrong in a request is told in words of their own.
	r.call("POST /envs/{id}/step", env, "", map[string]any{"action": actions[0]})
	r.call("POST /envs/{id}/reset", env, "", map[string]any{"task_id": "none", "split": "user"})
	r.call("POST /envs/{id}/reset", env, "", start)
	r.call("POST /envs/{id}/step", env, "", map[string]any{"action": 7, "step": -1})
	r.call("DELETE /envs/{id}", env, "", nil)
	id, _ := r.call("POST /runs", "", "", map[string]any{"name": "r"})["run_id"].(string)
	r.call("POST /runs/{run_id}/points", id, "", map[string]any{"points": []any{map[string]any{"update": 1, "wall_seconds": 1, "values": map[string]any{"x": 1}}}})
	r.call("GET /runs/{run_id}/points", id, "", nil)
	r.call("DELETE /runs/{run_id}", id, "", nil)
}

// processes records what can be seen of the processes below the server.
func (r *record) processes() {
	for _, pid := range descendants(os.Getpid()) {
		for _, f := range []string{"cmdline", "environ", "comm"} {
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, f)) // it may have ended
			fmt.Fprintf(r, "\nprocess %d %s %s\n", pid, f, text)
		}
	}
}

// files records what the server has written.
func (r *record) files(dir string) {
	n := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(r, "\nfile %s\n%s\n", path, text)
		n++
		return err
	})
	if err != nil || n == 0 {
		r.t.Error("the server's files:", n, err)
	}
}
