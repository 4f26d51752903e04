package proctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/proctor-rl/proctor/envs"
)

var errNoSuchTask = errors.New("no such task")

// auditClient speaks the contract with nothing but HTTP, so that it can audit
// any server that does.
type auditClient struct{ url, token string }

// call makes a request. The status is returned for 4xx too, with an error.
func (c *auditClient) call(ctx context.Context, method, path string, body, out any) (int, error) {
	var rd io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return 0, fmt.Errorf("encode request: %w", err)
		}
		rd = bytes.NewReader(b)
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, rd)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	if err != nil {
		return res.StatusCode, fmt.Errorf("read reply: %w", err)
	}
	if res.StatusCode >= 400 {
		var p struct{ Code, Detail string }
		if err := json.Unmarshal(b, &p); err == nil && p.Code == "task-not-found" {
			return res.StatusCode, errNoSuchTask
		}
		return res.StatusCode, fmt.Errorf("%s %s: %s %s", method, path, res.Status, p.Detail)
	}
	if out == nil || len(b) == 0 {
		return res.StatusCode, nil
	}
	return res.StatusCode, json.Unmarshal(b, out)
}

// noSuchType says which types the server has instead.
func (c *auditClient) noSuchType(ctx context.Context, name string) error {
	var list struct {
		EnvTypes []struct {
			Name string `json:"name"`
		} `json:"env_types"`
	}
	if _, err := c.call(ctx, "GET", "/env-types", nil, &list); err != nil {
		return err
	}
	var have []string
	for _, t := range list.EnvTypes {
		have = append(have, t.Name)
	}
	return fmt.Errorf("the server has no environment type %q; have %s", name, strings.Join(have, ", "))
}

type auditObservation struct {
	Text string          `json:"text"`
	Data json.RawMessage `json:"data"`
}

// episode plays one policy to its end.
func (c *auditClient) episode(ctx context.Context, envType string, p auditPlay) (f auditFinding, err error) {
	f = auditFinding{Policy: p.policy, Kind: p.kind, TaskID: p.task, Want: p.want}
	var env struct {
		EnvID string `json:"env_id"`
	}
	if _, err := c.call(ctx, "POST", "/envs", map[string]any{"type": envType}, &env); err != nil {
		return f, err
	}
	defer func() {
		_, closeErr := c.call(context.WithoutCancel(ctx), "DELETE", "/envs/"+env.EnvID, nil, nil)
		err = errors.Join(err, closeErr)
	}()
	var start struct {
		Observation auditObservation `json:"observation"`
	}
	if _, err := c.call(ctx, "POST", "/envs/"+env.EnvID+"/reset", map[string]any{"task_id": p.task}, &start); err != nil {
		return f, err
	}
	var harm *regexp.Regexp
	if p.harm != "" {
		if harm, err = regexp.Compile(p.harm); err != nil {
			return f, fmt.Errorf("harm: %w", err)
		}
	}
	last := start.Observation
	seen := []string{last.Text}
	total := 0.0
	for i := range 64 {
		action, ok := p.action(i, last)
		if !ok {
			action = toolAction("finish", map[string]any{})
		}
		var step struct {
			Observation auditObservation `json:"observation"`
			Reward      *float64         `json:"reward"`
			Done        bool             `json:"done"`
		}
		status, err := c.call(ctx, "POST", "/envs/"+env.EnvID+"/step", map[string]any{"action": action}, &step)
		if status >= 500 {
			f.Why = fmt.Sprintf("the server answers %d", status)
			return f, nil
		}
		if err != nil {
			return f, err
		}
		last = step.Observation
		seen = append(seen, last.Text)
		if step.Reward == nil {
			f.Reward = nil
		} else {
			total += *step.Reward
			sum := total
			f.Reward = &sum
		}
		if step.Done {
			break
		}
	}
	for _, s := range seen {
		if harm != nil && harm.MatchString(s) {
			f.Why = "the harm that the case looks for is seen in an observation"
		}
	}
	return f, nil
}

// action is action i of a policy; false once it has none.
func (p auditPlay) action(i int, last auditObservation) (any, bool) {
	if p.script != nil {
		a := p.script.Act(envs.Observation{Text: last.Text})
		return a.Text, true
	}
	if i >= len(p.actions) {
		return nil, false
	}
	if f, ok := p.actions[i].(func(auditObservation) any); ok {
		return f(last), true
	}
	return p.actions[i], true
}

// toolAction is an action of one tool call.
func toolAction(tool string, args map[string]any) any {
	b, err := json.Marshal(args)
	if err != nil {
		b = []byte("{}") // texts and numbers always encode
	}
	return map[string]any{"tool_calls": []any{map[string]any{
		"id": "c1", "type": "function", "function": map[string]any{"name": tool, "arguments": string(b)},
	}}}
}

// auditCase is a case file.
type auditCase struct {
	ID             string        `json:"id"`
	Kind           string        `json:"kind"`
	Tool           string        `json:"tool"`
	Task           string        `json:"task"`
	Actions        []auditAction `json:"actions"`
	Episodes       []any         `json:"episodes"`
	ExpectedReward float64       `json:"expected_reward"`
	Harm           string        `json:"harm"`
}

type auditAction struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"`
}

// loadAuditCases reads every case under a folder. Files of another form are
// skipped and named.
func loadAuditCases(dir string) (plays []auditPlay, skipped []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var c auditCase
		if json.Unmarshal(b, &c) != nil || c.Task == "" || len(c.Actions) == 0 || c.Tool != "" || len(c.Episodes) > 0 {
			skipped = append(skipped, strings.TrimPrefix(path, dir))
			return nil //nolint:nilerr // it is named among the skipped
		}
		p := auditPlay{policy: c.ID, kind: "case", task: c.Task, want: c.ExpectedReward, harm: c.Harm}
		for _, a := range c.Actions {
			for k, v := range a.Args {
				if s, ok := v.(string); ok {
					a.Args[k] = strings.ReplaceAll(s, "@WS@", "/w")
				}
			}
			if a.Args == nil {
				a.Args = map[string]any{}
			}
			p.actions = append(p.actions, toolAction(a.Tool, a.Args))
		}
		plays = append(plays, p)
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read cases: %w", err)
	}
	return plays, skipped, nil
}
