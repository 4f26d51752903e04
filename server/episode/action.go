package episode

import (
	"bytes"
	"encoding/json"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/envs"
)

// parseAction reads the four shapes of an action. A wrong shape is the
// harness's fault and refused; what a model wrote inside a right shape is for
// the env to judge, however garbled.
func parseAction(raw json.RawMessage) (envs.Action, *Error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return envs.Action{}, Invalid("/action", "is required")
	}
	switch raw[0] {
	case '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return envs.Action{}, Invalid("/action", "is no JSON string")
		}
		return envs.Action{Text: s}, nil
	case '{':
	default:
		return envs.Action{}, Invalid("/action", "must be a string or an object")
	}
	var obj map[string]json.RawMessage
	if err := json.Unmarshal(raw, &obj); err != nil {
		return envs.Action{}, Invalid("/action", "is no JSON object")
	}
	if len(obj) != 1 {
		return envs.Action{}, Invalid("/action", "must have exactly one of text, tool_calls and message")
	}
	for k, v := range obj {
		switch k {
		case "text":
			var s *string
			if err := json.Unmarshal(v, &s); err != nil || s == nil {
				return envs.Action{}, Invalid("/action/text", "must be a string")
			}
			return envs.Action{Text: *s}, nil
		case "tool_calls":
			calls, ok := parseCalls(v)
			if !ok {
				return envs.Action{}, Invalid("/action/tool_calls", "must be a list of objects")
			}
			return envs.Action{ToolCalls: calls}, nil
		case "message":
			return parseMessage(v)
		}
	}
	e := Invalid("/action", "must have exactly one of text, tool_calls and message")
	e.Code = api.ProblemCodeUnknownField
	return envs.Action{}, e
}

// maxCalls bounds the calls that are read out of one action; more than an env
// type lets run are never run.
const maxCalls = 2048

// parseCalls reads OpenAI tool calls leniently: a missing name or arguments of
// another type than text are the model's doing.
func parseCalls(raw json.RawMessage) ([]envs.ToolCall, bool) {
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return nil, true
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, false
	}
	out := []envs.ToolCall{}
	for d.More() && len(out) < maxCalls {
		var m map[string]json.RawMessage
		if err := d.Decode(&m); err != nil || m == nil {
			return nil, false
		}
		c := envs.ToolCall{ID: text(m["id"])}
		var fn map[string]json.RawMessage
		if err := json.Unmarshal(m["function"], &fn); err == nil {
			c.Name = text(fn["name"])
			c.Arguments = text(fn["arguments"])
		}
		out = append(out, c)
	}
	return out, true
}

func parseMessage(raw json.RawMessage) (envs.Action, *Error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil || m == nil {
		return envs.Action{}, Invalid("/action/message", "must be an object")
	}
	if tc := bytes.TrimSpace(m["tool_calls"]); len(tc) > 0 && !bytes.Equal(tc, []byte("null")) {
		calls, ok := parseCalls(tc)
		if !ok {
			return envs.Action{}, Invalid("/action/message/tool_calls", "must be a list of objects")
		}
		if len(calls) > 0 {
			return envs.Action{ToolCalls: calls}, nil
		}
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(m["content"], &parts); err == nil {
		var b bytes.Buffer
		for _, p := range parts {
			b.WriteString(p.Text)
		}
		return envs.Action{Text: b.String()}, nil
	}
	return envs.Action{Text: text(m["content"])}, nil
}

// text is a JSON string's value, or any other value's JSON, or empty for none.
func text(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return ""
	}
	var s string
	if err := json.Unmarshal(raw, &s); err == nil {
		return s
	}
	return string(raw)
}

// sameAction compares two actions as JSON, whatever their white space.
func sameAction(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return false
	}
	return bytes.Equal(x.Bytes(), y.Bytes())
}
