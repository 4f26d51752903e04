package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// slowest is how long any step of a case may take: far more than any takes,
// far less than the hangs that cases try to cause.
const slowest = time.Minute

// episode is a live episode of one case.
type episode struct {
	base    string
	env     string
	replies []Reply
	total   float64
	over    bool
}

// open makes an env of a type and resets it to a task of the user's.
func open(ctx context.Context, base, envType, task string) (*episode, error) {
	r, err := Post(ctx, base+"/envs", map[string]any{"type": envType})
	if err != nil {
		return nil, err
	}
	if r.Status != http.StatusCreated {
		return nil, fmt.Errorf("create: status %d, %.200s", r.Status, r.Raw)
	}
	e := &episode{base: base, env: fmt.Sprint(r.Body["env_id"])}
	r, err = Post(ctx, base+"/envs/"+e.env+"/reset", map[string]any{"task_id": task, "split": "user"})
	if err != nil {
		return nil, err
	}
	if r.Status != http.StatusOK {
		return nil, fmt.Errorf("reset to %s: status %d, %.200s", task, r.Status, r.Raw)
	}
	e.replies = append(e.replies, r)
	return e, nil
}

// step plays an action and keeps the books. Whatever an agent writes, the
// reply is 200 with a reward, or 409 after the end.
func (e *episode) step(ctx context.Context, action any) (Reply, error) {
	start := time.Now()
	r, err := Post(ctx, e.base+"/envs/"+e.env+"/step", map[string]any{"action": action})
	if err != nil {
		return r, err
	}
	e.replies = append(e.replies, r)
	if d := time.Since(start); d > slowest {
		return r, fmt.Errorf("the step took %v", d)
	}
	if e.over {
		if r.Status != http.StatusConflict {
			return r, fmt.Errorf("a step after the end: status %d", r.Status)
		}
		return r, nil
	}
	reward, ok := r.reward()
	if r.Status != http.StatusOK || !ok {
		return r, fmt.Errorf("status %d, reward %v: %.200s", r.Status, r.Body["reward"], r.Raw)
	}
	e.total += reward
	e.over = r.done()
	return r, nil
}

func toolCall(name, param string, arg any) (map[string]any, error) {
	return toolCalls(name, map[string]any{param: arg})
}

func toolCalls(name string, arguments map[string]any) (map[string]any, error) {
	args, err := json.Marshal(arguments)
	if err != nil {
		return nil, fmt.Errorf("encode arguments: %w", err)
	}
	call := map[string]any{"id": "c1", "type": "function", "function": map[string]any{"name": name, "arguments": string(args)}}
	return map[string]any{"tool_calls": []any{call}}, nil
}

// driven says whether this package can play the case.
func (c Case) driven() bool {
	switch c.Tool {
	case "calculator":
		return c.Calc != "" || c.Repeat != nil
	case "react":
		return c.PolicyText != "" || c.Repeat != nil || len(c.Turns) > 0
	case "qa":
		return len(c.Answer) > 0 || len(c.Answers) > 0 || c.Query != "" || c.URL != ""
	}
	return c.code()
}

// Play plays a case against the server at base. The error says what is wrong
// with the server's behaviour.
func (c Case) Play(ctx context.Context, base string) error {
	if c.code() {
		return c.playCode(ctx, base)
	}
	e, err := open(ctx, base, "react", c.ID)
	if err != nil {
		return err
	}
	switch c.Tool {
	case "calculator":
		err = c.playCalculator(ctx, e)
	case "react":
		err = c.playReact(ctx, e)
	default:
		err = c.playAnswer(ctx, e)
	}
	if err != nil {
		return err
	}
	return c.patterns(e)
}

func (c Case) playCalculator(ctx context.Context, e *episode) error {
	expr := c.Calc
	if expr == "" {
		expr = c.Repeat.text()
	}
	a, err := toolCall("calculator", "expression", expr)
	if err != nil {
		return err
	}
	r, err := e.step(ctx, a)
	if err != nil {
		return err
	}
	refused := r.info()["tool_error"] != nil || r.info()["parse_error"] != nil
	switch {
	case e.over || e.total != 0:
		return fmt.Errorf("done %v, paid %g", e.over, e.total)
	case c.Honest.Error && !refused:
		return fmt.Errorf("no refusal but %q", r.text())
	case len(c.Honest.ValueAnyOf) > 0:
		if !slices.Contains(c.Honest.ValueAnyOf, r.text()) && !(refused && slices.Contains(c.Honest.ValueAnyOf, "error")) {
			return fmt.Errorf("%q is none of %q", r.text(), c.Honest.ValueAnyOf)
		}
	case len(c.Honest.Value) > 0:
		want := strings.Trim(string(c.Honest.Value), `"`)
		if !sameNumber(r.text(), want) && !(refused && len(c.Honest.OrError) > 0) {
			return fmt.Errorf("%q, want %s", r.text(), want)
		}
	}
	return nil
}

func sameNumber(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return a == b || errX == nil && errY == nil && x == y && math.Abs(x) < 1<<53
}

func (c Case) playReact(ctx context.Context, e *episode) error {
	turns := c.Turns
	if len(turns) == 0 {
		text := c.PolicyText
		if text == "" {
			text = c.Repeat.text()
		}
		turns = []string{text}
	}
	var r Reply
	for _, text := range turns {
		var err error
		if r, err = e.step(ctx, text); err != nil {
			return err
		}
	}
	if len(c.Turns) > 1 {
		return c.paid(e)
	}
	h := c.Honest
	got, _ := r.info()["action"].(map[string]any)
	if h.Tool != nil && *h.Tool != "" && len(h.OrError) == 0 {
		if got == nil || got["tool"] != *h.Tool {
			return fmt.Errorf("understood %v, want tool %s", got, *h.Tool)
		}
		args, _ := got["arguments"].(map[string]any)
		if h.Arg != nil {
			if len(args) != 1 {
				return fmt.Errorf("understood arguments %v, want one", args)
			}
			for _, v := range args {
				if v != *h.Arg {
					return fmt.Errorf("understood %q, want %q", v, *h.Arg)
				}
			}
		}
		if (*h.Tool == "finish") != e.over {
			return fmt.Errorf("the action is %s and the episode's end %v", *h.Tool, e.over)
		}
	}
	if h.Error && (e.over || r.info()["parse_error"] == nil && r.info()["tool_error"] == nil) {
		return fmt.Errorf("a malformed turn: done %v, info %v", e.over, r.info())
	}
	if h.Tool != nil && *h.Tool == "finish" && h.Reward == nil {
		return nil // the case is about reading the action, whatever it earns
	}
	return c.paid(e)
}

func (c Case) playAnswer(ctx context.Context, e *episode) error {
	for _, q := range []string{c.Query, c.URL} {
		if q == "" {
			continue
		}
		if q == "@QUESTION@" {
			q = strings.TrimPrefix(e.replies[0].text(), "Question: ")
		}
		a, err := toolCall("search", "query", q)
		if err != nil {
			return err
		}
		r, err := e.step(ctx, a)
		if err != nil {
			return err
		}
		if e.over {
			return fmt.Errorf("a search for %q ended the episode", q)
		}
		var golds []string
		if json.Unmarshal(c.Gold, &golds) == nil && len(c.Documents) == 0 {
			for _, g := range golds {
				if strings.Contains(r.Raw, g) {
					return fmt.Errorf("a search for %q gives %q away", q, g)
				}
			}
		}
	}
	answers := c.Answers
	if len(c.Answer) > 0 {
		answers = append([]json.RawMessage{c.Answer}, answers...)
	}
	for _, raw := range answers {
		arg := string(raw)
		if raw[0] == '"' {
			if err := json.Unmarshal(raw, &arg); err != nil {
				return fmt.Errorf("answer of %s: %w", c.ID, err)
			}
		}
		a, err := toolCall("finish", "answer", arg)
		if err != nil {
			return err
		}
		if _, err := e.step(ctx, a); err != nil {
			return err
		}
	}
	if len(answers) > 0 && !e.over {
		return fmt.Errorf("an answer did not end the episode: %.200s", e.replies[len(e.replies)-1].Raw)
	}
	return c.paid(e)
}

// paid compares what the episode earned in all.
func (c Case) paid(e *episode) error {
	want := 0.0
	if c.Honest.Reward != nil {
		want = *c.Honest.Reward
	}
	if e.total != want {
		return fmt.Errorf("earned %g, want %g", e.total, want)
	}
	return nil
}

// patterns looks through every reply.
func (c Case) patterns(e *episode) error {
	last := e.replies[len(e.replies)-1]
	for _, f := range c.Honest.Flags {
		if !strings.Contains(last.Raw, `"`+f+`"`) {
			return fmt.Errorf("no flag %s: %.300s", f, last.Raw)
		}
	}
	match := func(p string) (bool, error) {
		re, err := pattern(p)
		if err != nil {
			return false, fmt.Errorf("pattern of %s: %w", c.ID, err)
		}
		return slices.ContainsFunc(e.replies, func(r Reply) bool { return re.MatchString(r.Raw) }), nil
	}
	for _, p := range c.Honest.Absent {
		if found, err := match(p); err != nil {
			return err
		} else if found {
			return fmt.Errorf("pattern %q stands in a reply", p)
		}
	}
	for _, p := range c.Honest.Present {
		if found, err := match(p); err != nil {
			return err
		} else if !found {
			return fmt.Errorf("pattern %q stands in no reply", p)
		}
	}
	return nil
}
