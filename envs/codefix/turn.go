package codefix

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/proctor-rl/proctor/envs"
)

// turn plays one action: a text or a list of tool calls.
type turn struct {
	env   *env
	out   *envs.Outcome
	texts []string
	data  []any
	ended bool
	spent time.Duration // in runs of the visible tests
}

const maxCallsPerAction = 32

// runBudget bounds the time that one action may spend in runs. A step that
// takes longer than a step may is a fault of ours, so it must not be in the
// agent's power to make one.
const runBudget = 15 * time.Second

func (t *turn) playText(ctx context.Context, text string) error {
	c, err := parseText(text, t.env.typ.opts.Compact)
	if err != nil {
		t.out.Info.ParseError = err.Error()
		t.say("Not understood: " + err.Error() + ".")
		t.data = append(t.data, map[string]any{"error": err.Error()})
		return nil //nolint:nilerr // the agent's fault is an outcome
	}
	return t.play(ctx, c)
}

func (t *turn) playCalls(ctx context.Context, calls []envs.ToolCall) error {
	for i, tc := range calls {
		if i >= maxCallsPerAction {
			t.out.Info.ToolError = "too many calls in one action"
			t.out.Observation.Messages = append(t.out.Observation.Messages, envs.Message{
				Role: "tool", Name: knownTool(tc.Name), ToolCallID: tc.ID, Content: "Refused: too many calls in one action.",
			})
			continue
		}
		n := len(t.texts)
		c, err := parseArguments(tc.Name, tc.Arguments, false)
		if err != nil {
			if t.out.Info.ParseError == "" {
				t.out.Info.ParseError = err.Error()
			}
			t.say("Not understood: " + err.Error() + ".")
			t.data = append(t.data, map[string]any{"error": err.Error()})
		} else if err := t.play(ctx, c); err != nil {
			return err
		}
		t.out.Observation.Messages = append(t.out.Observation.Messages, envs.Message{
			Role: "tool", Name: knownTool(tc.Name), ToolCallID: tc.ID, Content: strings.Join(t.texts[n:], "\n"),
		})
		if t.ended {
			break
		}
	}
	return nil
}

func knownTool(name string) string {
	if _, ok := toolArguments[name]; ok {
		return name
	}
	return ""
}

// play runs one tool.
func (t *turn) play(ctx context.Context, c *call) error {
	if t.out.Info.Action == nil {
		t.out.Info.Action = &envs.Understood{Tool: c.tool, Arguments: c.arguments()}
	}
	t.out.Info.Flags = append(t.out.Info.Flags, c.flags...)
	ws, compact := t.env.ws, t.env.typ.opts.Compact
	switch c.tool {
	case toolList:
		t.say("Files: " + strings.Join(ws.paths(), ", "))
		t.data = append(t.data, map[string]any{"files": ws.paths()})
	case toolRead:
		p, b, err := ws.read(c.path)
		if err != nil {
			t.refuse(err)
			return nil
		}
		if compact {
			t.say(listing(b))
		} else {
			t.say(p + ":\n" + numbered(b))
		}
		t.data = append(t.data, map[string]any{"path": p, "content": neutral(string(b))})
	case toolEdit, toolReplace:
		var p string
		var err error
		if c.tool == toolEdit {
			p, err = ws.write(c.path, c.content)
		} else {
			p, err = ws.replaceLines(c.path, c.first, c.last, c.content)
		}
		if err != nil {
			t.refuse(err)
			return nil
		}
		if compact {
			t.say("ok.")
		} else {
			t.say(fmt.Sprintf("Saved %s (%d lines).", p, len(splitLines(ws.files[p]))))
		}
		t.data = append(t.data, map[string]any{"path": p, "lines": len(splitLines(ws.files[p]))})
	case toolRun:
		if t.spent > runBudget {
			t.refuse(&refusal{"", "the runs of this action have used up its time"})
			return nil
		}
		begin := time.Now()
		r, err := t.env.visible(ctx)
		t.spent += time.Since(begin)
		if err != nil {
			return fmt.Errorf("step codefix: %w", err)
		}
		t.env.ran = ws.digest()
		t.say(r.text)
		t.data = append(t.data, r)
	case toolFinish:
		t.ended, t.out.Terminated = true, true
		t.say("Finished.")
	}
	return nil
}

// refuse answers a call that a tool would not carry out.
func (t *turn) refuse(err error) {
	t.out.Info.ToolError = err.Error()
	if r, ok := errors.AsType[*refusal](err); ok && r.flag != "" {
		t.out.Info.Flags = append(t.out.Info.Flags, r.flag)
	}
	t.say("Refused: " + err.Error() + ".")
	t.data = append(t.data, map[string]any{"error": err.Error()})
}

func (t *turn) say(s string) { t.texts = append(t.texts, s) }

// finishObservation puts the parts of the observation together within the
// limit of the episode.
func (t *turn) finishObservation() {
	t.env.bound(&t.out.Observation, strings.Join(t.texts, "\n"), t.data)
}

// bound fills an observation with text, as messages and as data, within the
// limit. Data that would not fit says only that it is too large.
func (e *env) bound(o *envs.Observation, text string, data []any) {
	limit := e.start.Limits.MaxObservationBytes
	if limit <= 0 {
		limit = e.typ.spec.Limits.MaxObservationBytes
	}
	o.Text, o.Elided = clip(text, limit)
	if len(o.Messages) == 0 {
		o.Messages = []envs.Message{{Role: "user", Content: o.Text}}
	} else {
		share := max(limit/len(o.Messages), 1)
		for i := range o.Messages {
			o.Messages[i].Content, _ = clip(o.Messages[i].Content, share)
		}
	}
	if len(data) == 0 {
		return
	}
	// What goes in is maps and structs of strings and numbers: it always encodes.
	b, err := json.Marshal(data)
	if err != nil || len(b) > limit {
		b = []byte(fmt.Sprintf(`[{"elided_bytes":%d}]`, len(b)))
	}
	o.Data = b
}

// arguments is the call as Info shows it.
func (c *call) arguments() map[string]any {
	m := map[string]any{}
	for name := range toolArguments[c.tool] {
		switch name {
		case "path":
			m[name] = neutral(c.path)
		case "content":
			m[name] = neutral(c.content)
		case "first":
			m[name] = c.first
		case "last":
			m[name] = c.last
		}
	}
	return m
}
