package api

import "encoding/json"

// TextAction is the action that says s in the env type's own scaffold.
func TextAction(s string) Action {
	b, err := json.Marshal(s)
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
	a, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"tool_calls": []ToolCall{{
		ID: "call_0", Type: "function", Function: ToolCallFunction{Name: name, Arguments: string(a)},
	}}})
}
