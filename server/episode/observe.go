package episode

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/envs"
)

// wireObservation is o as the contract has it: bounded, valid UTF-8, and
// without control characters, so that agent output cannot forge a line of its
// own on somebody's terminal.
func wireObservation(o envs.Observation, maxBytes int) api.Observation {
	out := api.Observation{Messages: make([]api.Message, len(o.Messages)), Data: plainData(o.Data)}
	var cut int
	out.Text, cut = bound(clean(o.Text), maxBytes)
	left := maxBytes // of all messages together, but for what the env says once at the start
	for i, m := range o.Messages {
		c := clean(m.Content)
		if m.Role == "system" {
			c, _ = bound(c, maxBytes)
		} else {
			c, _ = bound(c, left)
			left -= len(c)
		}
		out.Messages[i] = api.Message{Role: m.Role, Content: c, Name: label(m.Name), ToolCallID: label(m.ToolCallID)}
	}
	if n := o.Elided + cut; n > 0 {
		out.Elided = &api.Elided{Bytes: n}
	}
	return out
}

// plainData is a JSON text in which <, > and & stand for themselves where they
// are escaped as for HTML, as encoding/json does where it is not told otherwise:
// code is full of them.
func plainData(data []byte) []byte {
	if !bytes.Contains(data, []byte(`\u00`)) {
		return data
	}
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' || i+1 == len(data) {
			out = append(out, data[i])
			continue
		}
		if i+6 <= len(data) && data[i+1] == 'u' {
			c := byte(0)
			switch strings.ToLower(string(data[i+2 : i+6])) {
			case "003c":
				c = '<'
			case "003e":
				c = '>'
			case "0026":
				c = '&'
			}
			if c != 0 {
				out = append(out, c)
				i += 5
				continue
			}
		}
		out = append(out, data[i], data[i+1]) // an escaped backslash begins no escape
		i++
	}
	return out
}

// weight is the bytes of an observation's texts.
func weight(o envs.Observation) int {
	n := len(o.Text) + len(o.Data)
	for _, m := range o.Messages {
		n += len(m.Content)
	}
	return n
}

// bound cuts s to at most n bytes at a rune's edge and says how many went.
func bound(s string, n int) (string, int) {
	if len(s) <= n {
		return s, 0
	}
	end := n
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end], len(s) - end
}

// clean replaces invalid UTF-8 and escapes control characters other than
// newline and tab.
func clean(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x7f || c < 0x20 && c != '\n' && c != '\t' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			b.WriteRune(utf8.RuneError)
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			b.WriteString(`\x`)
			if r < 0x10 {
				b.WriteByte('0')
			}
			b.WriteString(strconv.FormatInt(int64(r), 16))
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// maxLabel bounds what an agent may choose beside the text: the ids that model
// servers give have fewer bytes.
const maxLabel = 128

// label makes a name of the agent's choice safe to hand back: short, on one
// line, and no marker of a chat.
func label(s string) string {
	s, _ = bound(s, maxLabel)
	s = clean(s)
	for _, r := range [][2]string{{"\n", `\n`}, {"\t", `\t`}, {"<|", "< |"}, {"|>", "| >"}} {
		s = strings.ReplaceAll(s, r[0], r[1])
	}
	return s
}

// withoutRun adds messages for the tool calls that were asked for and not run,
// since a chat needs an answer to each.
func withoutRun(o envs.Observation, calls []envs.ToolCall) envs.Observation {
	const why = "Not run: no tool calls are left."
	for _, c := range calls {
		o.Messages = append(o.Messages, envs.Message{Role: "tool", Content: why, Name: c.Name, ToolCallID: c.ID})
	}
	if o.Text != "" {
		o.Text += "\n"
	}
	o.Text += why
	return o
}

func wireParts(ps []envs.RewardPart) []api.RewardPart {
	out := make([]api.RewardPart, len(ps))
	for i, p := range ps {
		out[i] = api.RewardPart{Name: p.Name, Kind: api.RewardPartKind(p.Kind), Value: p.Value, Weight: p.Weight}
	}
	return out
}

func wireGrade(g *envs.Grade) *api.Grade {
	if g == nil {
		return nil
	}
	flags := g.Integrity.Flags
	if flags == nil {
		flags = []string{}
	}
	return &api.Grade{
		Passed: g.Passed, Score: g.Score,
		Verifier:  api.Verifier{Name: g.Verifier.Name, Version: g.Verifier.Version, Digest: g.Verifier.Digest},
		Tests:     api.TestCounts{Passed: g.Tests.Passed, Failed: g.Tests.Failed, Errors: g.Tests.Errors},
		Integrity: api.Integrity{OK: g.Integrity.OK, Flags: flags},
	}
}

func wireInfo(i envs.Info) api.Info {
	out := api.Info{ParseError: clean(i.ParseError), ToolError: clean(i.ToolError), Flags: i.Flags}
	if i.Action != nil {
		args := i.Action.Arguments
		if args == nil {
			args = map[string]any{}
		}
		out.Action = &api.UnderstoodAction{Tool: i.Action.Tool, Arguments: args}
	}
	return out
}
