package episode

import (
	"encoding/json"
	"testing"
)

// FuzzAction: an action of any shape is read or refused at the place that is
// wrong with it.
func FuzzAction(f *testing.F) {
	for _, s := range []string{
		`"Action: finish[42]"`, `{"text":"x"}`, `{"text":null}`, `{"tool_calls":null}`, `{"tool_calls":[{"id":"1","function":{"name":"finish","arguments":"{}"}}]}`,
		`{"message":{"content":"x"}}`, `{"message":{"content":[{"text":"a"},{"text":1}]}}`, `{"message":{"tool_calls":[1]}}`,
		`{"text":"a","message":{}}`, `{"a":1}`, `[]`, `1`, `"\ud800"`, ` `, `{"tool_calls":[{"id":1,"function":{"arguments":{"a":1}}}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := parseAction(json.RawMessage(data))
		if err != nil {
			if err.Code == "" || err.Detail == "" {
				t.Errorf("%q: refused without a word: %+v", data, err)
			}
			return
		}
		if a.Text != "" && len(a.ToolCalls) > 0 {
			t.Errorf("%q: both text and calls: %+v", data, a)
		}
		if len(a.ToolCalls) > maxCalls {
			t.Errorf("%d calls", len(a.ToolCalls))
		}
		if !sameAction(data, data) {
			t.Errorf("%q differs from itself", data)
		}
	})
}
