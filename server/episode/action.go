package episode

import (
	"bytes"
	"encoding/json"
	"slices"

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
	if k := twice(raw); k != "" {
		return envs.Action{}, Invalid("/action/"+k, "appears twice")
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
	if k := twice(raw, "content", "tool_calls"); k != "" {
		return envs.Action{}, Invalid("/action/message/"+k, "appears twice")
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
	return envs.Action{Text: content(m["content"])}, nil
}

// content is the text of a message: a string, or the texts of its parts.
func content(raw json.RawMessage) string {
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return text(raw)
	}
	var b bytes.Buffer
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// twice names a member that an object has more than once, of those in among if
// it names any: readers of the record disagree on which of them counts.
func twice(obj json.RawMessage, among ...string) (name string) {
	seen := map[string]bool{}
	d := json.NewDecoder(bytes.NewReader(obj))
	if _, err := d.Token(); err != nil {
		return ""
	}
	for d.More() {
		var value json.RawMessage
		t, err := d.Token()
		if k, ok := t.(string); ok && err == nil && d.Decode(&value) == nil {
			if seen[k] && (len(among) == 0 || slices.Contains(among, k)) {
				name = k
			}
			seen[k] = true
			continue
		}
		break // it was parsed before
	}
	return name
}

// Said is a recorded action as it was understood: what the assistant wrote, and
// the calls that it made. ok is false for what was no action.
func Said(raw json.RawMessage) (wrote string, calls json.RawMessage, ok bool) {
	a, e := parseAction(raw)
	if e != nil {
		return "", nil, false
	}
	var obj map[string]json.RawMessage
	if json.Unmarshal(raw, &obj) != nil {
		return a.Text, nil, true // a string
	}
	calls = obj["tool_calls"]
	if m, is := obj["message"]; is {
		var msg map[string]json.RawMessage
		if json.Unmarshal(m, &msg) != nil {
			return "", nil, false // it was parsed before
		}
		calls, a.Text = msg["tool_calls"], content(msg["content"])
	}
	if len(a.ToolCalls) == 0 {
		calls = nil
	}
	return a.Text, calls, true
}

// wellFormed replaces each half of a surrogate pair that stands alone, as
// decoding does. What is recorded is then what was played, and whoever reads it
// can: a lone half is JSON to some and an error to others.
func wellFormed(raw json.RawMessage) json.RawMessage {
	half := func(i int) (hi, lo bool) { // is there a \uD800 to \uDFFF at i?
		if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' || raw[i+2]|0x20 != 'd' {
			return false, false
		}
		c := raw[i+3] | 0x20
		return c == '8' || c == '9' || c == 'a' || c == 'b', c >= 'c' && c <= 'f'
	}
	var out []byte
	from := 0
	for i := bytes.IndexByte(raw, '\\'); i >= 0 && i < len(raw); {
		hi, lo := half(i)
		_, next := half(i + 6)
		switch {
		case hi && next:
			i += 12
		case hi || lo:
			out = append(append(out, raw[from:i]...), `\ufffd`...)
			i += 6
			from = i
		default:
			i += 2
		}
		if i >= len(raw) {
			break
		}
		n := bytes.IndexByte(raw[i:], '\\')
		if n < 0 {
			break
		}
		i += n
	}
	if out == nil {
		return raw
	}
	return append(out, raw[from:]...)
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
