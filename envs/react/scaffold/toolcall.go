package scaffold

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// ToolCall reads one OpenAI tool call. params gives the one parameter of each
// tool. Names are taken literally.
func ToolCall(id, name, arguments string, params map[string]string) Call {
	c := Call{ID: id}
	if !toolName(name) {
		c.Problem = "that is no tool name"
		return c
	}
	c.Tool = name
	if len(arguments) > 2*maxArgument {
		c.Problem = "the arguments are too long"
		return c
	}
	fields, err := object(arguments)
	if err != nil {
		c.Problem = err.Error()
		return c
	}
	want, known := params[name]
	if !known {
		// Whether the tool exists is the caller's business; understand what
		// can be understood.
		c.Argument, c.Valid = strings.ToValidUTF8(arguments, "\uFFFD"), true
		return c
	}
	raw, ok := fields[want]
	if !ok || len(fields) != 1 {
		c.Problem = "the arguments must be an object with the one field \"" + want + "\""
		return c
	}
	v, err := scalar(raw)
	if err != nil {
		c.Problem = "the field \"" + want + "\" " + err.Error()
		return c
	}
	return argument(c, v)
}

var errObject = errors.New("the arguments are not one JSON object")

// object reads a flat JSON object, refusing repeated fields, which readers
// disagree about.
func object(s string) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(strings.NewReader(s))
	t, err := d.Token()
	if err != nil || t != json.Delim('{') {
		return nil, errObject
	}
	fields := map[string]json.RawMessage{}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, errObject
		}
		key, ok := k.(string)
		if !ok {
			return nil, errObject
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, errObject
		}
		if _, twice := fields[key]; twice {
			return nil, errors.New("a field of the arguments is given twice")
		}
		fields[key] = v
	}
	if _, err := d.Token(); err != nil {
		return nil, errObject
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errObject
	}
	return fields, nil
}

// scalar is the text of a string, number or boolean. Models write finish(42)
// as often as finish("42"); a list or an object is no single argument.
func scalar(raw json.RawMessage) (string, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0:
		return "", errors.New("is missing")
	case raw[0] == '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return "", errors.New("is not a string")
		}
		return s, nil
	case raw[0] == '[' || raw[0] == '{' || string(raw) == "null":
		return "", errors.New("must be a string")
	}
	return string(raw), nil
}
