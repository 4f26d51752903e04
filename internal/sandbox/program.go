package sandbox

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed py/*.py
var pySource embed.FS

// program joins the parts of the interpreter's program in the order of their
// names.
func program() (string, error) {
	names, err := fs.Glob(pySource, "py/*.py")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, n := range names {
		text, err := pySource.ReadFile(n)
		if err != nil {
			return "", err
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// Modules that a warm interpreter has loaded before it forks. What solutions
// often import is among them; each one more makes every fork dearer.
var (
	warmCalls = []string{
		"collections", "collections.abc", "itertools", "functools", "math", "re", "random", "string", "heapq", "bisect",
		"datetime", "json", "typing", "dataclasses", "copy", "operator", "enum", "importlib", "contextlib", "statistics",
	}
	warmPytest = append([]string{"pytest", "_pytest.assertion.rewrite", "_pytest.terminal", "unittest", "tempfile", "ast", "linecache"}, warmCalls...)
)
