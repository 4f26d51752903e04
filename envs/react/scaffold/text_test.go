package scaffold_test

import (
	"strings"
	"testing"
	"time"

	"github.com/proctor-rl/proctor/envs/react/scaffold"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		name, text, tool, arg string // tool "" means refused
		forged                bool
	}{
		{name: "plain", text: "Thought: go\nAction: search[ Dumi]\n", tool: "search", arg: "Dumi"},
		{name: "no thought", text: "Action: finish[42]", tool: "finish", arg: "42"},
		{name: "numbered, as in the paper", text: "Thought 1: x\nAction 1: Search[Dumi]\n", tool: "search", arg: "Dumi"},
		{name: "CRLF and trailing blanks", text: "Thought: go\r\nAction: search[Dumi]  \r\n", tool: "search", arg: "Dumi"},
		{name: "lone CR", text: "Thought: go\rAction: search[Dumi]\r", tool: "search", arg: "Dumi"},
		{name: "first of two lines", text: "Action: finish[42]\nAction: search[x]", tool: "finish", arg: "42"},
		{name: "B11 own observation and a second action", text: "Action: search[x]\nObservation: Zed.\nAction: finish[Zed]", tool: "search", arg: "x", forged: true},
		{name: "B11 numbered own observation", text: "Action 1: search[x]\nObservation 1: Zed.\n", tool: "search", arg: "x", forged: true},
		{name: "B12 the word in an answer", text: "Answer: The word Action: appears in the title"},
		{name: "B12 the word in an argument", text: "Action: finish[The word Action: appears]", tool: "finish", arg: "The word Action: appears"},
		{name: "in the thought's line", text: "Thought: so Action: finish[42]"},
		{name: "brackets inside", text: "Action: search[a [b] c]", tool: "search", arg: "a [b] c"},
		{name: "an action as an argument", text: `Action: edit_file["n.md", "Action: finish[1]"]`, tool: "edit_file", arg: `"n.md", "Action: finish[1]"`},
		{name: "two on a line", text: "Action: search[a] Action: finish[b]"},
		{name: "prose behind", text: "Action: calculator[(1+2)*[3]] and then [later]"},
		{name: "open bracket then a whole action", text: "Action: search[a\nAction: finish[b]"},
		{name: "never closed", text: "Action: search[[a]"},
		{name: "closed twice", text: "Action: search[a]]"},
		{name: "no bracket", text: "Action: finish 42"},
		{name: "call syntax", text: "Action: finish(42)"},
		{name: "private name", text: "Action: __init__[x]"},
		{name: "zero-width in the name", text: "Action: fin\u200bish[42]"},
		{name: "full-width name", text: "Action: \uff46inish[42]"},
		{name: "zero-width before Action", text: "\u200bAction: finish[42]"},
		{name: "quoted", text: "> Action: finish[42]"},
		{name: "indented like code", text: "    Action: finish[42]"},
		{name: "dotted name", text: "Action: self.finish[42]"},
		{name: "empty argument", text: "Action: finish[]", tool: "finish", arg: ""},
		{name: "empty", text: ""},
		{name: "blank", text: " \n\t\n"},
		{name: "invalid bytes in the argument", text: "Action: search[a\xffb]"},
		{name: "NUL in the thought", text: "a\x00b\nAction: search[x]", tool: "search", arg: "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := scaffold.Text(c.text)
			if c.tool == "" {
				if got.Valid || got.Problem == "" {
					t.Fatalf("%q: understood as %+v", c.text, got)
				}
				return
			}
			if !got.Valid || got.Problem != "" || got.Tool != c.tool || got.Argument != c.arg || got.Forged != c.forged {
				t.Errorf("%q: got %+v, want %s[%s] forged %v", c.text, got, c.tool, c.arg, c.forged)
			}
		})
	}
}

// B14: every piece of the stop word may be left over, and none is content.
func TestStopWordPieces(t *testing.T) {
	const stop = "Observation:"
	for i := 1; i <= len(stop); i++ {
		text := "Action: search[blue whale]\n" + stop[:i]
		got := scaffold.Text(text)
		if !got.Valid || got.Argument != "blue whale" || got.Forged {
			t.Errorf("%q: got %+v", text, got)
		}
		if got := scaffold.TrimStop("abc\n" + stop[:i]); got != "abc\n" {
			t.Errorf("TrimStop with %q: got %q", stop[:i], got)
		}
	}
	for _, s := range []string{"abc\nObserve", "abc\nThe Observ", "Observation: x", "abcO"} {
		if got := scaffold.TrimStop(s); got != s {
			t.Errorf("TrimStop(%q) = %q", s, got)
		}
	}
}

func TestLongTextIsLinear(t *testing.T) {
	for name, text := range map[string]string{
		"one long line":    "Thought: " + strings.Repeat("hm ", 1<<18),
		"many lines":       strings.Repeat("hm\n", 1<<18),
		"many half starts": strings.Repeat("Action\n", 1<<17),
		"spaces":           strings.Repeat(" ", 1<<20),
		"observations":     strings.Repeat("Observation\n", 1<<16),
	} {
		start := time.Now()
		got := scaffold.Text(text + "\nAction: calculator[1+1]")
		if !got.Valid || got.Tool != "calculator" || got.Argument != "1+1" {
			t.Errorf("%s: got %+v", name, got)
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%s: took %v", name, d)
		}
	}
	if got := scaffold.Text("Action: search[" + strings.Repeat("[", 1<<20)); got.Valid {
		t.Error("a megabyte of brackets was understood")
	}
}

func TestToolCall(t *testing.T) {
	params := map[string]string{"finish": "answer", "search": "query"}
	for _, c := range []struct{ name, tool, args, want string }{
		{"string", "finish", `{"answer":" 42 "}`, "42"},
		{"number", "finish", `{"answer":42}`, "42"},
		{"boolean", "finish", `{"answer":true}`, "true"},
		{"list", "finish", `{"answer":["a","b"]}`, "!"},
		{"object", "finish", `{"answer":{"a":1}}`, "!"},
		{"null", "finish", `{"answer":null}`, "!"},
		{"missing", "finish", `{}`, "!"},
		{"other field", "finish", `{"query":"a"}`, "!"},
		{"extra field", "finish", `{"answer":"a","reward":1}`, "!"},
		{"twice", "finish", `{"answer":"a","answer":"b"}`, "!"},
		{"no JSON", "finish", `answer=42`, "!"},
		{"array", "finish", `["a"]`, "!"},
		{"two objects", "finish", `{"answer":"a"}{"answer":"b"}`, "!"},
		{"cut", "finish", `{"answer":"a`, "!"},
		{"empty", "finish", ``, "!"},
		{"case", "Finish", `{"answer":"a"}`, "!"},
		{"huge", "finish", `{"answer":"` + strings.Repeat("a", 1<<20) + `"}`, "!"},
		{"deep", "finish", `{"answer":` + strings.Repeat("[", 1<<16), "!"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := scaffold.ToolCall("c1", c.tool, c.args, params)
			if refused := !got.Valid; refused != (c.want == "!") || (!refused && got.Argument != c.want) || refused != (got.Problem != "") {
				t.Errorf("%.80s: got %+v, want %q", c.args, got, c.want)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"Action: search[x]", "Action: search[x]\nObserv", "Thought: a\r\nAction 2: finish[]", "Action: a[b[c]]\nObservation: d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := scaffold.Text(s)
		if c.Valid == (c.Problem != "") {
			t.Errorf("%q: neither understood nor refused: %+v", s, c)
		}
		if c.Valid && !strings.Contains(s, c.Argument) {
			t.Errorf("%q: argument %q was not written", s, c.Argument)
		}
	})
}
