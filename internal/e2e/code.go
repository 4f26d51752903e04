package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// workspacePath is where agent code finds itself, for cases that need to name it.
const workspacePath = "/home/w"

// code says whether this is a case of the code environment.
func (c Case) code() bool {
	return c.Tool == "" && (c.Task != "" && len(c.Actions) > 0 || len(c.Episodes) > 0)
}

// playCode plays the episodes of a code case; the last one's reward counts.
func (c Case) playCode(ctx context.Context, base string) error {
	if err := c.playRoute(ctx, base, false); err != nil || !c.BothRoutes {
		return err
	}
	if err := c.playRoute(ctx, base, true); err != nil {
		return fmt.Errorf("by lines: %w", err)
	}
	return nil
}

func (c Case) playRoute(ctx context.Context, base string, byLines bool) error {
	episodes := c.Episodes
	if len(episodes) == 0 {
		episodes = []CodeEpisode{{c.Task, c.Actions}}
	}
	var harm *regexp.Regexp
	if c.Harm != "" {
		var err error
		if harm, err = pattern(c.Harm); err != nil {
			return fmt.Errorf("harm of %s: %w", c.ID, err)
		}
	}
	var e *episode
	for _, ep := range episodes {
		task := ep.Task
		if task == "" {
			task = c.Task
		}
		var err error
		if e, err = open(ctx, base, "codefix", task); err != nil {
			return err
		}
		if err := e.playActions(ctx, ep.Actions, byLines); err != nil {
			return err
		}
		for _, r := range e.replies {
			if harm != nil && harm.MatchString(r.text()) {
				return fmt.Errorf("harm stands in an observation: %.600s", r.text())
			}
		}
		if err := e.close(ctx); err != nil {
			return err
		}
	}
	if e.total != c.ExpectedReward {
		return fmt.Errorf("earned %g, deserves %g", e.total, c.ExpectedReward)
	}
	return nil
}

// playActions plays actions until the episode ends, and ends it where they do
// not. With byLines, a file that is there is changed by lines.
func (e *episode) playActions(ctx context.Context, actions []CodeAction, byLines bool) error {
	for _, a := range append(actions[:len(actions):len(actions)], CodeAction{Tool: "finish"}) {
		args := map[string]any{}
		for k, v := range a.Args {
			if s, ok := v.(string); ok {
				v = strings.ReplaceAll(s, "@WS@", workspacePath)
			}
			args[k] = v
		}
		if byLines && a.Tool == "edit_file" {
			n, err := e.lines(ctx, args["path"])
			if err != nil {
				return err
			}
			if n > 0 {
				a.Tool, args["first"], args["last"] = "replace_lines", 1, n
			}
		}
		call, err := toolCalls(a.Tool, args)
		if err != nil {
			return err
		}
		if _, err := e.step(ctx, call); err != nil {
			return fmt.Errorf("%s: %w", a.Tool, err)
		}
		if e.over {
			return nil
		}
	}
	return errors.New("finish did not end the episode")
}

// lines counts the lines of a file of the workspace, 0 if there is none.
func (e *episode) lines(ctx context.Context, path any) (int, error) {
	call, err := toolCall("read_file", "path", path)
	if err != nil {
		return 0, err
	}
	r, err := e.step(ctx, call)
	if err != nil {
		return 0, fmt.Errorf("read_file: %w", err)
	}
	obs, _ := r.Body["observation"].(map[string]any)
	data, _ := obs["data"].([]any)
	if len(data) != 1 {
		return 0, nil
	}
	file, _ := data[0].(map[string]any)
	text, _ := file["content"].(string)
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n, nil
}

func (e *episode) close(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, e.base+"/envs/"+e.env, nil)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return resp.Body.Close()
}

// codeTasks copies the task files of a folder of cases, less the fields that
// only other runners know.
func codeTasks(cases, tasks string) error {
	names, err := filepath.Glob(filepath.Join(cases, "tasks", "*.json"))
	if err != nil {
		return fmt.Errorf("list tasks: %w", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read task: %w", err)
		}
		all, out := map[string]json.RawMessage{}, map[string]json.RawMessage{}
		if err := json.Unmarshal(data, &all); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		for _, k := range []string{"id", "prompt", "files", "hidden_cases", "hidden_test", "fixed"} {
			if v, ok := all[k]; ok {
				out[k] = v
			}
		}
		if data, err = json.Marshal(out); err != nil {
			return fmt.Errorf("encode %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(tasks, filepath.Base(name)), data, 0o644); err != nil {
			return fmt.Errorf("write task: %w", err)
		}
	}
	return nil
}
