package codefix

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// Integrity flags: the closed set that a Grade and an Info may carry.
const (
	FlagProtected   = "protected-write"     // a write to a visible test or a runner's configuration
	FlagShadow      = "shadowing-write"     // a file that would shadow a module
	FlagPath        = "path-escape"         // an absolute path or one with ".."
	FlagOddPath     = "odd-path"            // characters, lengths or shapes that no honest path has
	FlagHiddenRead  = "hidden-read"         // a read outside the workspace or of a name reserved for the grader
	FlagObservation = "written-observation" // the policy wrote an observation of its own
	FlagSandbox     = "sandbox-violation"   // the code ran into a limit or a fence of the sandbox
)

const (
	maxPathBytes = 120
	maxPathDepth = 8
)

// refusal says why a path or a write is not allowed. Its text goes to the
// agent and quotes nothing that the agent wrote, bar a cleaned path.
type refusal struct {
	flag string
	why  string
}

func (r *refusal) Error() string { return r.why }

// cleanPath is the one spelling of a workspace path, or the reason why it is
// none. "./" and doubled slashes are spelling; everything else odd is refused.
func cleanPath(p string) (string, *refusal) {
	switch {
	case p == "":
		return "", &refusal{"", "the path is empty"}
	case len(p) > maxPathBytes:
		return "", &refusal{FlagOddPath, fmt.Sprintf("the path is longer than %d bytes", maxPathBytes)}
	case !utf8.ValidString(p):
		return "", &refusal{FlagOddPath, "the path is not valid UTF-8"}
	}
	for i := range len(p) {
		if !pathByte(p[i]) {
			return "", &refusal{FlagOddPath, "a path may hold only letters, digits, '.', '_', '-' and '/'"}
		}
	}
	if p[0] == '/' {
		return "", &refusal{FlagPath, "paths are relative to the workspace"}
	}
	if strings.HasSuffix(p, "/") {
		return "", &refusal{FlagOddPath, "a directory is not a file"}
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == ".." {
			return "", &refusal{FlagPath, "a path may not leave the workspace"}
		}
	}
	c := path.Clean(p)
	if c == "." {
		return "", &refusal{FlagOddPath, "a directory is not a file"}
	}
	if strings.Count(c, "/") >= maxPathDepth {
		return "", &refusal{FlagOddPath, "the path is too deep"}
	}
	return c, nil
}

func pathByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '.' || c == '_' || c == '-' || c == '/'
}

// isVisibleTest says whether a file of this name is a visible test, which is
// shown and run but never written.
func isVisibleTest(p string) bool {
	b := strings.ToLower(path.Base(p))
	return b == "conftest.py" || strings.HasSuffix(b, ".py") &&
		(strings.HasPrefix(b, "test_") || strings.HasSuffix(b, "_test.py") || b == "test.py" || b == "tests.py")
}

// protectedParts are names, of a file or of a directory on the way to it, that
// steer an interpreter or a test runner.
var protectedParts = map[string]bool{
	"pytest.ini": true, "pytest.toml": true, "pyproject.toml": true, "setup.cfg": true, "setup.py": true,
	"tox.ini": true, "noxfile.py": true, "sitecustomize.py": true, "usercustomize.py": true,
	"sitecustomize": true, "usercustomize": true, "__pycache__": true, "pyvenv.cfg": true,
	"site-packages": true, "dist-packages": true, "python3": true, "python": true,
}

var protectedExts = map[string]bool{
	".pth": true, ".pyc": true, ".pyo": true, ".pyd": true, ".so": true, ".egg": true, ".egg-link": true,
	".whl": true, ".zip": true, ".dylib": true, ".dll": true, ".ini": true,
}

// checkName refuses names that no edit may have, whatever the workspace holds.
// original names files that the task itself came with: a task may bring a
// parser.py that shadows nothing it needs, but never a writable test.
func checkName(p string, original bool) *refusal {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		low := strings.ToLower(part)
		last := i == len(parts)-1
		switch {
		case isVisibleTest(low):
			return &refusal{FlagProtected, "tests are read-only"}
		case protectedParts[low] || protectedExts[path.Ext(low)]:
			return &refusal{FlagProtected, "files that steer the interpreter or the test runner are read-only"}
		case strings.HasPrefix(part, "."):
			return &refusal{FlagProtected, "hidden files are not allowed"}
		case !last && strings.HasSuffix(low, ".py"):
			return &refusal{FlagOddPath, "a directory may not be named like a module"}
		}
	}
	if original {
		return nil
	}
	top, _, _ := strings.Cut(strings.ToLower(parts[0]), ".")
	if shadowed[top] || strings.HasPrefix(top, "pytest") || strings.HasPrefix(top, "_pytest") {
		return &refusal{FlagShadow, "a file of this name would shadow a module of Python or of the test runner; choose another name"}
	}
	return nil
}
