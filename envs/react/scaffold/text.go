package scaffold

import (
	"strings"
	"unicode/utf8"
)

// Call is one call of a tool as the agent wrote it.
type Call struct {
	ID       string // of a tool call, empty for text
	Tool     string // lower case
	Argument string
	Valid    bool // Tool and Argument hold what was written, whether the tool exists or not
	Problem  string
	Forged   bool // the text went on to write an observation of its own
}

// stopWord is where a sampler is expected to stop an agent.
const stopWord = "Observation:"

// maxArgument bounds an argument: nothing that a tool here reads is longer,
// and what is refused is not echoed.
const maxArgument = 4096

// Text reads the action in a text. It takes time linear in the text's length.
func Text(text string) Call {
	rest := text
	for rest != "" {
		var line string
		line, rest = cutLine(rest)
		body, ok := actionLine(line)
		if !ok {
			continue
		}
		c := parseAction(body)
		c.Forged = writesObservation(TrimStop(rest))
		return c
	}
	if strings.TrimSpace(TrimStop(text)) == "" {
		return Call{Problem: "the action is empty"}
	}
	return Call{Problem: "no line starts with \"Action:\"", Forged: writesObservation(text)}
}

// TrimStop removes a last line that is a piece of the stop word, which is left
// over where the word was several tokens.
func TrimStop(text string) string {
	i := strings.LastIndexAny(text, "\r\n")
	last := strings.TrimSpace(text[i+1:])
	if last != "" && strings.HasPrefix(stopWord, last) {
		return text[:i+1]
	}
	return text
}

// cutLine splits after the first line end: LF, CRLF or a lone CR.
func cutLine(s string) (line, rest string) {
	i := strings.IndexAny(s, "\r\n")
	if i < 0 {
		return s, ""
	}
	if s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n' {
		return s[:i], s[i+2:]
	}
	return s[:i], s[i+1:]
}

// actionLine is what follows "Action:" or "Action 3:". Up to three blanks may
// stand in front; more make it quoted text, as in Markdown.
func actionLine(line string) (string, bool) {
	s := strings.TrimLeft(line, " ")
	if len(line)-len(s) > 3 || len(s) < len("action:") || !strings.EqualFold(s[:len("action")], "action") {
		return "", false
	}
	s = strings.TrimLeft(s[len("action"):], " ")
	s = strings.TrimLeft(s, "0123456789")
	s = strings.TrimLeft(s, " ")
	if !strings.HasPrefix(s, ":") {
		return "", false
	}
	return strings.Trim(s[1:], " \t"), true
}

// parseAction reads "tool[argument]" that fills s.
func parseAction(s string) Call {
	open := strings.IndexByte(s, '[')
	if open < 0 {
		return Call{Problem: "an action is written tool[argument]"}
	}
	tool := strings.ToLower(strings.TrimRight(s[:open], " "))
	if !toolName(tool) {
		return Call{Problem: "that is no tool name"}
	}
	depth, end := 0, -1
scan:
	for i := open; i < len(s); i++ {
		switch s[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				end = i
				break scan
			}
		}
	}
	switch {
	case end < 0:
		return Call{Problem: "the closing bracket is missing on the action's line"}
	case strings.TrimSpace(s[end+1:]) != "":
		return Call{Problem: "text follows the closing bracket: write one action and nothing after it"}
	}
	return argument(Call{Tool: tool}, s[open+1:end])
}

// argument completes c with an argument, or with the reason to refuse it.
func argument(c Call, arg string) Call {
	arg = strings.TrimSpace(arg)
	switch {
	case len(arg) > maxArgument:
		c.Problem = "the argument is too long"
	case !utf8.ValidString(arg):
		c.Problem = "the argument is not valid UTF-8"
	default:
		c.Argument, c.Valid = arg, true
	}
	return c
}

// toolName reports whether s could name a tool: ASCII letters, digits and
// underscores, starting with a letter. Anything invisible or look-alike is out.
func toolName(s string) bool {
	if s == "" || len(s) > 64 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// writesObservation reports whether a line of text poses as an observation.
func writesObservation(text string) bool {
	for text != "" {
		var line string
		line, text = cutLine(text)
		s := strings.TrimLeft(line, " \t")
		if len(s) < len("observation") || !strings.EqualFold(s[:len("observation")], "observation") {
			continue
		}
		s = strings.TrimLeft(s[len("observation"):], " 0123456789")
		if strings.HasPrefix(s, ":") {
			return true
		}
	}
	return false
}
