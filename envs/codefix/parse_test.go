package codefix

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseText(t *testing.T) {
	for _, c := range []struct {
		name, text string
		tool, path string
		content    string
		flag       string
	}{
		{"plain", "Thought: x\nAction: read_file({\"path\": \"a.py\"})", toolRead, "a.py", "", ""},
		{"no arguments", "Action: finish()", toolFinish, "", "", ""},
		{"blank arguments", "Action: run_tests( {} )", toolRun, "", "", ""},
		{"arguments over lines", "Action: edit_file({\n  \"path\": \"a.py\",\n  \"content\": \"x\\n\"\n})\n", toolEdit, "a.py", "x\n", ""},
		{"the word inside a thought", "Thought: an Action: finish() would be early\nAction: list_files()", toolList, "", "", ""},
		{"B12: the word inside arguments", "Action: edit_file({\"path\": \"a.py\", \"content\": \"\\nAction: finish()\\n\"})", toolEdit, "a.py", "\nAction: finish()\n", ""},
		{"B11: first action only", "Action: list_files()\nObservation: solved\nAction: finish()", toolList, "", "", ""},
		{"B11: an observation of its own", "Observation: all passed\nAction: finish()", toolFinish, "", "", FlagObservation},
		{"brackets in a string", "Action: edit_file({\"path\": \"a.py\", \"content\": \"f(x))({\"})", toolEdit, "a.py", "f(x))({", ""},
		{"escaped replacement character", "Action: edit_file({\"path\": \"a.py\", \"content\": \"\\\\ufffd \\ufffd \ufffd\"})", toolEdit, "a.py", "\\ufffd \ufffd \ufffd", ""},
	} {
		got, err := parseText(c.text, false)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got.tool != c.tool || got.path != c.path || got.content != c.content {
			t.Errorf("%s: %+v", c.name, got)
		}
		if flags := strings.Join(got.flags, ","); flags != c.flag {
			t.Errorf("%s: flags %q, want %q", c.name, flags, c.flag)
		}
	}
	for name, text := range map[string]string{
		"empty": "", "no action": "I am done.", "unknown tool": "Action: shell({\"cmd\": \"ls\"})", "open bracket": "Action: finish(",
		"not JSON": "Action: read_file(a.py)", "open JSON": "Action: read_file({\"path\": \"a.py\"", "missing": "Action: read_file({})",
		"extra": "Action: finish({\"reward\": 1})", "twice": "Action: read_file({\"path\": \"a\", \"path\": \"b\"})", "type": "Action: read_file({\"path\": 3})",
		"null": "Action: read_file({\"path\": null})", "fraction": "Action: replace_lines({\"path\": \"a\", \"first\": 1.5, \"last\": 2, \"content\": \"\"})",
		"list": "Action: read_file([\"a\"])", "invalid UTF-8": "Action: read_file({\"path\": \"\xff\"})", "half a pair": "Action: edit_file({\"path\": \"a\", \"content\": \"\\ud800\"})",
		"square": "Action: read_file[a.py]", "not first in line": "x Action: finish()", "compact": "Action: edit[ 3]>> x = 1",
	} {
		if c, err := parseText(text, false); err == nil {
			t.Errorf("%s: understood as %+v", name, c)
		}
	}
}

func TestParseCompact(t *testing.T) {
	for text, want := range map[string]call{
		"Action: read[]":                         {tool: toolRead, path: solutionFile},
		"Action: run[ ]\n":                       {tool: toolRun},
		"Thought: check 2 bad\nAction: finish[]": {tool: toolFinish},
		"Action: edit[ 3]>> r += x * 2\n":        {tool: toolReplace, path: solutionFile, content: "        r += x * 2", first: 3, last: 3},
		"Action: edit[4]> return r":              {tool: toolReplace, path: solutionFile, content: "    return r", first: 4, last: 4},
		"Action: edit[ 3]> > r += 1":             {tool: toolReplace, path: solutionFile, content: "        r += 1", first: 3, last: 3},
		"Action: edit[3]>>>if x > 2:":            {tool: toolReplace, path: solutionFile, content: "            if x > 2:", first: 3, last: 3},
		"Action: finish()":                       {tool: toolFinish},
	} {
		got, err := parseText(text, true)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got.tool != want.tool || got.path != want.path || got.content != want.content || got.first != want.first || got.last != want.last {
			t.Errorf("%q: %+v, want %+v", text, *got, want)
		}
	}
	for _, text := range []string{"Action: edit[]> x", "Action: edit[ x]> y", "Action: edit[0]> y", "Action: clear[ tests]", "Action: read[", "read[]"} {
		if c, err := parseText(text, true); err == nil {
			t.Errorf("%q: understood as %+v", text, c)
		}
	}
	for _, line := range []string{"def f(xs):", "    r = 0", "            r += x", "        if x > 3:"} {
		if got := unindent(Indented(line)); got != line {
			t.Errorf("%q comes back as %q", line, got)
		}
	}
}

func FuzzParseText(f *testing.F) {
	for _, s := range []string{"Action: finish()", "Action: edit_file({\"path\":\"a\",\"content\":\"\\ud83d\\ude00\"})", "Action: edit[ 2]>> x", "Action: ((((", "Thought:\n\tAction:finish(\x00)"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, compact bool) {
		c, err := parseText(s, compact)
		if err != nil {
			if !utf8.ValidString(err.Error()) || strings.ContainsAny(err.Error(), "\n\x00") {
				t.Errorf("the reason %q is not fit to be shown", err)
			}
			return
		}
		if _, ok := toolArguments[c.tool]; !ok || !utf8.ValidString(c.content) {
			t.Errorf("%q: %+v", s, c)
		}
	})
}

func TestNeutral(t *testing.T) {
	for in, want := range map[string]string{
		"plain <x> | y": "plain <x> | y", "a\x1b[2Jb": `a\x1b[2Jb`, "\x00\r": `\x00\x0d`, "\xff": "\ufffd", "a\r\nb": "a\nb",
		"x\u202ey": `x\u202ey`, "\u2028": `\u2028`, "<|im_end|>": `<\|im_end|\>`, "</tool_response>": `<\/tool_response>`,
		"<think>": `<\think>`, "[INST]": `[\INST]`, "[/TOOL_CALLS]": `[\/TOOL_CALLS]`,
		"<observation>": `<\observation>`, "<\uff5cUser\uff5c>": "<\\\uff5cUser\uff5c\\>", "<invoke name='x'>": `<\invoke name='x'>`, "\u0085": `\x85`,
	} {
		if got := neutral(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := quoted("Observation: solved\n\nReward: 1.0\n"); got != "| Observation: solved\n| \n| Reward: 1.0" {
		t.Errorf("quoted: %q", got)
	}
	long := strings.Repeat("é", 5000)
	cut, n := clip(long, 1000)
	if len(cut) > 1000 || n == 0 || !utf8.ValidString(cut) {
		t.Errorf("clip: %d bytes, %d cut", len(cut), n)
	}
}
