package e2e_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/internal/cli/proctor"
	"github.com/proctor-rl/proctor/internal/cli/trainer"
)

// documents gives every page, script, recipe and unit of the repository by its
// path below the root, with lines that go on joined.
func documents(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	kinds := []string{".md", ".sh", ".yaml", ".yml", ".service"}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "node_modules" || name == "runs" || name == "testdata" || strings.HasPrefix(name, ".g")):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains(kinds, filepath.Ext(name)) && name != "Makefile":
			return nil
		}
		text, err := os.ReadFile(path)
		out[strings.TrimPrefix(filepath.ToSlash(path), "../../")] = strings.ReplaceAll(string(text), "\\\n", " ")
		return err
	})
	if err != nil || len(out) < 30 {
		t.Fatalf("%d documents, %v", len(out), err)
	}
	return out
}

var (
	commandLine = regexp.MustCompile("(?:bin/|(?m:^) *|ExecStart=/usr/local/bin/|`)(proctor|trainer) (lab [a-z]+|[a-z]+)([^`\n|&;>#]*)")
	longFlag    = regexp.MustCompile(`(?:^|[\s(])--([a-z][A-Za-z-]*)`)
	helpFlag    = regexp.MustCompile(`(?m)^  -([A-Za-z-]+)`)
	setting     = regexp.MustCompile(`--set ([a-z_.]+=[^\s$]+)`)
	recipe      = regexp.MustCompile(`--recipe (recipes/[a-z-]+\.yaml)`)
)

// TestDocumentsNameFlagsThatExist: a command line in a page or a script names a
// subcommand and flags that the program has, recipes that are there and settings
// that they take.
func TestDocumentsNameFlagsThatExist(t *testing.T) {
	mains := map[string]func(context.Context, []string, io.Writer, io.Writer) int{"proctor": proctor.Main, "trainer": trainer.Main}
	helps := map[string][]string{}
	flags := func(program, command string) []string {
		key := program + " " + command
		if _, ok := helps[key]; !ok {
			var out bytes.Buffer
			helps[key] = nil
			if mains[program](t.Context(), append(strings.Fields(command), "--help"), &out, io.Discard) == 0 {
				helps[key] = []string{"help"}
				for _, m := range helpFlag.FindAllStringSubmatch(out.String(), -1) {
					helps[key] = append(helps[key], m[1])
				}
			}
		}
		return helps[key]
	}
	seen := 0
	for path, text := range documents(t) {
		for _, m := range commandLine.FindAllStringSubmatch(text, -1) {
			have := flags(m[1], m[2])
			if have == nil { // a sentence about the program, unless there are flags
				if longFlag.MatchString(m[3]) {
					t.Errorf("%s: %q: no such command", path, strings.TrimSpace(m[0]))
				}
				continue
			}
			for _, f := range longFlag.FindAllStringSubmatch(m[3], -1) {
				seen++
				if !slices.Contains(have, f[1]) {
					t.Errorf("%s: %q: no flag --%s", path, strings.TrimSpace(m[0]), f[1])
				}
			}
			with := recipe.FindStringSubmatch(m[3])
			if m[1] != "trainer" || with == nil {
				continue
			}
			args := []string{"config", "--recipe", "../../" + with[1]}
			for _, s := range setting.FindAllStringSubmatch(m[3], -1) {
				args = append(args, "--set", s[1])
			}
			var errs bytes.Buffer
			if trainer.Main(t.Context(), args, io.Discard, &errs) != 0 {
				t.Errorf("%s: %q: %s", path, strings.TrimSpace(m[0]), &errs)
			}
		}
	}
	if seen < 40 {
		t.Errorf("found %d flags: the pattern misses them", seen)
	}
}

var (
	verb    = regexp.MustCompile("(?:`|(?m:^) +|(?m:^))make ([a-z0-9-]+)(?:[`\n ]|$)")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
	inCode  = regexp.MustCompile("(?m)^(?:    .*|```.*)$|`[^`\n]+`")
)

// TestPagesLinkToWhatExists: each link of each page leads to a file and, where it
// has one, to a heading of it; each verb of make that a page shows is there.
func TestPagesLinkToWhatExists(t *testing.T) {
	docs := documents(t)
	links := 0
	for path, text := range docs {
		if filepath.Ext(path) != ".md" || strings.HasPrefix(path, "tools/bench/") { // parts of pages that lie elsewhere
			continue
		}
		for _, m := range verb.FindAllStringSubmatch(code(text), -1) {
			if !strings.Contains(docs["Makefile"], "\n"+m[1]+": ") {
				t.Errorf("%s says make %s, the Makefile has no such verb", path, m[1])
			}
		}
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			to, part, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") {
				continue
			}
			links++
			file := path
			if to != "" {
				file = filepath.ToSlash(filepath.Join(filepath.Dir(path), to))
			}
			if _, err := os.Stat(filepath.Join("../..", file)); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err)
			} else if part != "" && !slices.Contains(anchors(docs[file]), part) {
				t.Errorf("%s links to %s, which has no such heading", path, m[1])
			}
		}
	}
	if links < 30 {
		t.Errorf("found %d links: the pattern misses them", links)
	}
}

// code is what a page shows as code, a piece a line.
func code(text string) string {
	return strings.Join(fence.FindAllString(text, -1), "\n") + "\n" + strings.Join(inCode.FindAllString(text, -1), "\n")
}

// anchors are the names that headings get on the web.
func anchors(page string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		name := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(m[1]), "")
		out = append(out, strings.ReplaceAll(name, " ", "-"))
	}
	return out
}
