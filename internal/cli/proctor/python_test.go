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
	var code strings.Builder
	for _, m := range regexp.MustCompile("(?s)```python\n(.*?)```").FindAllSubmatch(page, -1) {
		code.Write(m[1])
	}
	if code.Len() == 0 {
		t.Fatal("docs/python.md shows no Python")
	}
	code.WriteString(`
for kind, size in ("react-mini", 3), ("codefix", 3), ("react-mini", 1):
    print(len(group(os.environ["PROCTOR_URL"], kind, lambda seen: "Action: finish[42]", size, split="train", index=0)))
`)
	url, stop := start(t, "--sandbox", sandboxNone)
	defer stop()
	cmd := exec.CommandContext(t.Context(), "python3", "-I", "-")
	cmd.Env = append(os.Environ(), "PROCTOR_URL="+url)
	cmd.Stdin = strings.NewReader(code.String())
	out, err := cmd.CombinedOutput()
	if err != nil || !regexp.MustCompile(`^\d+ messages, return (0|1)\.?0?\n3\n3\n1\n$`).Match(out) {
		t.Errorf("%v: %s", err, out)
	}
}
