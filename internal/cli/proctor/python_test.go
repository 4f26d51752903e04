package proctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The client that docs/python.md shows plays an episode as it stands there.
func TestPythonExample(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "python.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(page)
	if m == nil {
		t.Fatal("docs/python.md shows no Python")
	}
	url, stop := start(t, "--sandbox", sandboxNone)
	defer stop()
	cmd := exec.CommandContext(t.Context(), "python3", "-I", "-")
	cmd.Env = append(os.Environ(), "PROCTOR_URL="+url)
	cmd.Stdin = strings.NewReader(string(m[1]))
	out, err := cmd.CombinedOutput()
	if err != nil || !regexp.MustCompile(`^\d+ messages, return (0|1)\.?0?\n$`).Match(out) {
		t.Errorf("%v: %s", err, out)
	}
}
