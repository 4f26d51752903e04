package codefix

import (
	"encoding/json"

	"github.com/proctor-rl/proctor/envs"
)

// The tools.
const (
	toolList    = "list_files"
	toolRead    = "read_file"
	toolEdit    = "edit_file"
	toolReplace = "replace_lines"
	toolRun     = "run_tests"
	toolFinish  = "finish"
)

// solutionFile is the file whose functions are graded.
const solutionFile = "solution.py"

// toolArguments says what each tool takes, all of it required.
var toolArguments = map[string]map[string]string{
	toolList:    {},
	toolRead:    {"path": "string"},
	toolEdit:    {"path": "string", "content": "string"},
	toolReplace: {"path": "string", "first": "integer", "last": "integer", "content": "string"},
	toolRun:     {},
	toolFinish:  {},
}

func tools() []envs.Tool {
	def := func(name, help, params string) envs.Tool {
		return envs.Tool{Name: name, Description: help, Parameters: json.RawMessage(params)}
	}
	const none = `{"type":"object","properties":{},"additionalProperties":false}`
	const path = `"path":{"type":"string","description":"path relative to the workspace"}`
	return []envs.Tool{
		def(toolList, "List the files of the workspace.", none),
		def(toolRead, "Show a file with its line numbers.",
			`{"type":"object","properties":{`+path+`},"required":["path"],"additionalProperties":false}`),
		def(toolEdit, "Replace the whole content of a file, or make a new one. Tests are read-only.",
			`{"type":"object","properties":{`+path+`,"content":{"type":"string"}},"required":["path","content"],"additionalProperties":false}`),
		def(toolReplace, "Replace the lines first to last, counted from 1, by content; last = first-1 inserts before first.",
			`{"type":"object","properties":{`+path+`,"first":{"type":"integer","minimum":1},"last":{"type":"integer","minimum":0},"content":{"type":"string"}},"required":["path","first","last","content"],"additionalProperties":false}`),
		def(toolRun, "Run the visible tests.", none),
		def(toolFinish, "End the episode. The workspace is then judged by hidden tests.", none),
	}
}

const actionHelp = "One \"Thought:\" line and one \"Action: tool(<JSON arguments>)\", for example\n" +
	"Thought: the bound is wrong\n" +
	"Action: replace_lines({\"path\": \"solution.py\", \"first\": 3, \"last\": 3, \"content\": \"        return lo\"})\n" +
	"The first action of a turn is played, the rest is ignored."

const compactHelp = "One \"Thought:\" line and one \"Action:\" line: read[] shows the numbered code, run[] runs the visible cases, " +
	"edit[ n]>> code replaces line n (one \">\" for each level of indentation), finish[] ends the episode. " +
	"The tools of the full form work too: Action: tool(<JSON arguments>)."

// fullForms is an action of each tool with arguments to be changed.
func fullForms() []string {
	return []string{
		`Action: list_files({})`,
		`Action: read_file({"path": "solution.py"})`,
		`Action: edit_file({"path": "solution.py", "content": "the whole file"})`,
		`Action: replace_lines({"path": "solution.py", "first": 1, "last": 1, "content": "the new lines"})`,
		`Action: run_tests({})`,
		`Action: finish({})`,
	}
}

// compactForms is the terse actions of a compact type.
func compactForms() []string {
	return []string{"Action: read[]", "Action: run[]", "Action: edit[ 1]>> code", "Action: finish[]"}
}
