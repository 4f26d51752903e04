package codefix

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// call is one tool call as the environment read it.
type call struct {
	tool    string
	path    string
	content string
	first   int
	last    int
	flags   []string
}

const maxArgumentBytes = 1 << 20

// actionLine finds the first line that begins an action. The word "Action:"
// inside a line or inside the JSON arguments of an earlier action is nothing.
var (
	actionLine      = regexp.MustCompile(`(?m)^[ \t]*Action:[ \t]*`)
	observationLine = regexp.MustCompile(`(?m)^[ \t]*Observation:`)
	toolName        = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]{0,40})[ \t]*([(\[])`)
)

// parseText reads the first action of a text: Action: tool(<JSON arguments>).
// compact also allows the terse forms of the grammar type. Whatever follows
// the first action is dropped, and an observation that the policy wrote is
// flagged, never believed.
func parseText(text string, compact bool) (*call, error) {
	if len(text) > maxArgumentBytes {
		return nil, errors.New("the action is too long")
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("the action is not valid UTF-8")
	}
	loc := actionLine.FindStringIndex(text)
	if loc == nil {
		return nil, errors.New("no line begins with \"Action:\"")
	}
	rest := text[loc[1]:]
	m := toolName.FindStringSubmatch(rest)
	if m == nil {
		return nil, errors.New("after \"Action:\" a tool and its arguments are expected")
	}
	var c *call
	var err error
	switch {
	case m[2] == "(":
		c, err = parseArguments(m[1], rest[len(m[0]):], true)
	case compact:
		c, err = parseCompact(m[1], rest[len(m[0]):])
	default:
		err = errors.New("arguments are written in round brackets, as JSON")
	}
	if err != nil {
		return nil, err
	}
	if observationLine.MatchString(text[:loc[0]]) {
		c.flags = append(c.flags, FlagObservation)
	}
	return c, nil
}

// parseCompact reads what follows the "[" of read[], run[], finish[] and
// edit[ n]>> code. One ">" stands for four blanks of indentation.
func parseCompact(tool, rest string) (*call, error) {
	line, _, _ := strings.Cut(rest, "\n")
	arg, code, ok := strings.Cut(line, "]")
	if !ok {
		return nil, errors.New("the bracket is not closed")
	}
	arg = strings.TrimSpace(arg)
	switch tool {
	case "read":
		return &call{tool: toolRead, path: solutionFile}, nil
	case "run":
		return &call{tool: toolRun}, nil
	case "finish":
		return &call{tool: toolFinish}, nil
	case "edit":
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 {
			return nil, errors.New("edit takes the number of a line")
		}
		return &call{tool: toolReplace, path: solutionFile, content: unindent(code), first: n, last: n}, nil
	}
	return nil, fmt.Errorf("no such tool; there are read, edit, run and finish")
}

// unindent reads a line of code in the compact form.
func unindent(s string) string {
	s = strings.TrimRight(s, " \t\r")
	n := 0
	for s = strings.TrimLeft(s, " "); strings.HasPrefix(s, ">"); s = strings.TrimLeft(s[1:], " ") {
		n++
	}
	return strings.Repeat("    ", min(n, 16)) + s
}

// Indented writes a line of code in the compact form: one ">" for each level.
func Indented(s string) string {
	n := 0
	for strings.HasPrefix(s, "    ") {
		s, n = s[4:], n+1
	}
	return strings.Repeat(">", n) + " " + s
}

// parseArguments reads a JSON object of arguments. closed says that a ")" must
// follow, as in the text form; what comes after it is ignored.
func parseArguments(tool, args string, closed bool) (*call, error) {
	want, ok := toolArguments[tool]
	if !ok {
		return nil, errors.New("no such tool; there are list_files, read_file, edit_file, replace_lines, run_tests and finish")
	}
	if len(args) > maxArgumentBytes {
		return nil, errors.New("the arguments are too long")
	}
	if !utf8.ValidString(args) {
		return nil, errors.New("the arguments are not valid UTF-8")
	}
	c := &call{tool: tool}
	if strings.TrimSpace(args) == "" && !closed || closed && strings.HasPrefix(strings.TrimSpace(args), ")") {
		args = "{})"
	}
	dec := json.NewDecoder(strings.NewReader(args))
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return nil, fmt.Errorf("the arguments are not a JSON object: %s", jsonFault(err))
	}
	tail := strings.TrimSpace(args[dec.InputOffset():])
	if closed && !strings.HasPrefix(tail, ")") {
		return nil, errors.New("the bracket after the arguments is not closed")
	}
	if !closed && tail != "" && tail != ")" {
		return nil, errors.New("something follows the JSON object of arguments")
	}
	fields, err := objectFields(raw)
	if err != nil {
		return nil, err
	}
	for name := range fields {
		if _, known := want[name]; !known {
			return nil, fmt.Errorf("%s takes no argument %s", tool, short(name))
		}
	}
	for name, kind := range want {
		v, given := fields[name]
		if !given {
			return nil, fmt.Errorf("%s needs the argument %q", tool, name)
		}
		if err := c.set(name, kind, v); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *call) set(name, kind string, v json.RawMessage) error {
	if kind == "integer" {
		n, err := strconv.Atoi(string(bytes.TrimSpace(v)))
		if err != nil {
			return fmt.Errorf("%q must be an integer", name)
		}
		if name == "first" {
			c.first = n
		} else {
			c.last = n
		}
		return nil
	}
	var s string
	if v = bytes.TrimSpace(v); len(v) == 0 || v[0] != '"' || json.Unmarshal(v, &s) != nil {
		return fmt.Errorf("%q must be a string", name)
	}
	// A lone surrogate is no character, and decoding would put another in its place.
	if strings.Count(s, "\ufffd") > strings.Count(string(v), "\ufffd")+strings.Count(strings.ToLower(string(v)), `\ufffd`) {
		return fmt.Errorf("%q holds half of a surrogate pair", name)
	}
	if name == "path" {
		c.path = s
	} else {
		c.content = s
	}
	return nil
}

// objectFields is the fields of a JSON object, none twice.
func objectFields(raw json.RawMessage) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("the arguments are not a JSON object")
	}
	out := map[string]json.RawMessage{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("the arguments are not a JSON object: %s", jsonFault(err))
		}
		name, _ := t.(string)
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, fmt.Errorf("the arguments are not a JSON object: %s", jsonFault(err))
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("the argument %s is given twice", short(name))
		}
		out[name] = v
	}
	return out, nil
}

// jsonFault is a decoding error in words that quote nothing.
func jsonFault(err error) string {
	var syn *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too early"
	case errors.As(err, &syn):
		return fmt.Sprintf("unexpected character near byte %d", syn.Offset)
	}
	return "it does not parse"
}
