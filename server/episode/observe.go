package episode

import (
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
	out := api.Observation{Messages: make([]api.Message, len(o.Messages)), Data: o.Data}
	cut := 0
	out.Text, cut = bound(clean(o.Text), maxBytes)
	for i, m := range o.Messages {
		c, _ := bound(clean(m.Content), maxBytes)
		out.Messages[i] = api.Message{Role: m.Role, Content: c, Name: m.Name, ToolCallID: m.ToolCallID}
	}
	if n := o.Elided + cut; n > 0 {
		out.Elided = &api.Elided{Bytes: n}
	}
	return out
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
