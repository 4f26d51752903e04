package api

import (
	"bytes"
	"encoding/json"
)

// Encode is v as JSON that is not escaped for HTML, as encoding/json does where
// it is not told otherwise: what an agent writes stays as long as it is, and as
// readable. Whoever sends it says that it is JSON, so nothing takes it for HTML.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// TextAction is the action that says s in the env type's own scaffold.
func TextAction(s string) Action {
	b, err := Encode(s)
	if err != nil {
		// A string always marshals; invalid UTF-8 is replaced.
		panic("api: string does not marshal")
	}
	return b
}

// ToolCall is one tool call in OpenAI's shape.
type ToolCall struct {
	ID       string           `json:"id,omitempty"`
	Type     string           `json:"type"`
	Function ToolCallFunction `json:"function"`
}

// ToolCallFunction names a tool and carries its arguments as JSON text.
type ToolCallFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// ToolAction is the action of one call of a tool with args, which must marshal
// to a JSON object.
func ToolAction(name string, args any) (Action, error) {
	a, err := Encode(args)
	if err != nil {
		return nil, err
	}
	return Encode(map[string]any{"tool_calls": []ToolCall{{
		ID: "call_0", Type: "function", Function: ToolCallFunction{Name: name, Arguments: string(a)},
	}}})
}
