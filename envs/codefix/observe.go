package codefix

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// chatTags are marks of chat templates and tool protocols. Output of a program
// that holds them could end a message in a careless template.
var chatTags = regexp.MustCompile(`(?i)<\||\|>|<\x{ff5c}|\x{ff5c}>|</?(?:tools?|tool_calls?|tool_responses?|tool_results?|` +
	`function_calls?|function_results?|function=[^<>\n]{0,40}|invoke|observation|information|answer|` +
	`think|thinking|reasoning|assistant|system|user|human|s|bos|eos|pad|unk|im_start|im_end)\b[^<>\n]{0,40}>|` +
	`\[/?(?:INST|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|SYSTEM_PROMPT)\]|<</?SYS>>|<(?:start|end)_of_turn>`)

// neutral makes text that the agent or its code could have shaped safe to
// show: invalid UTF-8 replaced, control and invisible characters escaped, chat
// tags broken by a backslash.
func neutral(s string) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	s = strings.ReplaceAll(s, "\r\n", "\n")
	plain := true
	for _, r := range s {
		if hideous(r) {
			plain = false
			break
		}
	}
	if !plain {
		var b strings.Builder
		for _, r := range s {
			switch {
			case !hideous(r):
				b.WriteRune(r)
			case r < 0x100:
				fmt.Fprintf(&b, `\x%02x`, r)
			default:
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		}
		s = b.String()
	}
	if strings.ContainsAny(s, "<[|\uff5c") {
		s = chatTags.ReplaceAllStringFunc(s, func(m string) string {
			_, n := utf8.DecodeRuneInString(m)
			return m[:n] + `\` + m[n:]
		})
	}
	return s
}

// hideous says whether a rune moves the cursor, hides or is no character.
func hideous(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r)
}

// quoted prefixes every line, so that no line of a program's output can pass
// for a line of the scaffold.
func quoted(s string) string {
	s = strings.TrimRight(neutral(s), "\n")
	if s == "" {
		return ""
	}
	return "| " + strings.ReplaceAll(s, "\n", "\n| ")
}

// clip keeps the head and the tail of s within limit bytes, cut at runes, and
// says how many bytes it left out.
func clip(s string, limit int) (string, int) {
	if limit <= 0 || len(s) <= limit {
		return s, 0
	}
	const mark = 40
	room := max(limit-mark, 0)
	head, tail := room*2/3, room/3
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	start := len(s) - tail
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	cut := start - head
	out := s[:head] + fmt.Sprintf("\n| ... %d bytes left out ...\n| ", cut) + s[start:]
	if len(out) > limit {
		return s[:head], len(s) - head
	}
	return out, cut
}

// numbered shows a file's lines with their numbers, as replace_lines counts.
func numbered(b []byte) string {
	var sb strings.Builder
	for i, l := range splitLines(b) {
		fmt.Fprintf(&sb, "%4d  %s\n", i+1, neutral(strings.TrimRight(string(l), "\r\n")))
	}
	return strings.TrimSuffix(sb.String(), "\n")
}

// short is an argument of the agent's as a tool error may quote it.
func short(s string) string {
	s = neutral(s)
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "..."
	}
	return fmt.Sprintf("%q", s)
}
