package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/proctor-rl/proctor"

// repo is what one walk over the repository found.
type repo struct {
	packages []pkg
	files    []file
}

// pkg is one folder's non-test Go files taken together, whatever their build tags.
type pkg struct {
	path    string // below the module's root; "" is the root
	imports []string
	docs    []string // the package comments found
	inits   []string // files that declare func init
}

type file struct {
	path string // below the root, with slashes
	size int64
}

// load reads the repository from the folder that holds go.mod.
func load(t *testing.T) repo {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	ignored := ignoredNames(t, root)
	var out repo
	byPath := map[string]*pkg{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if d.Name() == ".git" || ignored(rel, true) {
				return fs.SkipDir
			}
			return nil
		}
		if d.Name() == ".git" || !d.Type().IsRegular() || ignored(rel, false) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out.files = append(out.files, file{rel, info.Size()})
		if !isSource(rel) {
			return nil
		}
		dir := filepath.ToSlash(filepath.Dir(rel))
		if dir == "." {
			dir = ""
		}
		if byPath[dir] == nil {
			byPath[dir] = &pkg{path: dir}
		}
		return byPath[dir].add(path, rel)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range byPath {
		slices.Sort(p.imports)
		p.imports = slices.Compact(p.imports)
		out.packages = append(out.packages, *p)
	}
	slices.SortFunc(out.packages, func(a, b pkg) int { return strings.Compare(a.path, b.path) })
	if len(out.packages) < 3 {
		t.Fatalf("found only %d packages below %s: the walk is broken", len(out.packages), root)
	}
	return out
}

// isSource tells Go files that are part of a package from tests and test data.
func isSource(rel string) bool {
	return strings.HasSuffix(rel, ".go") && !strings.HasSuffix(rel, "_test.go") &&
		!slices.Contains(strings.Split(rel, "/"), "testdata")
}

func (p *pkg) add(path, rel string) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f, err := parser.ParseFile(token.NewFileSet(), rel, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if f.Doc != nil && !ast.IsGenerated(f) {
		p.docs = append(p.docs, f.Doc.Text())
	}
	for _, i := range f.Imports {
		imp, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return err
		}
		p.imports = append(p.imports, imp)
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" && !ast.IsGenerated(f) {
			p.inits = append(p.inits, rel)
		}
	}
	return nil
}

// ignoredNames reads the repository's .gitignore. It understands what that
// file uses, names and globs with or without a leading or trailing slash, and
// fails on anything else.
func ignoredNames(t *testing.T, root string) func(rel string, dir bool) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "!") || strings.Contains(line, "**") {
			t.Fatalf(".gitignore: this test does not understand %q", line)
		}
		lines = append(lines, line)
	}
	return func(rel string, dir bool) bool {
		return slices.ContainsFunc(lines, func(line string) bool {
			name, onlyDir := strings.CutSuffix(line, "/")
			if onlyDir && !dir {
				return false
			}
			target := rel
			if anchored, ok := strings.CutPrefix(name, "/"); ok {
				name = anchored
			} else if !strings.Contains(name, "/") {
				target = filepath.Base(rel)
			}
			ok, err := filepath.Match(name, target)
			if err != nil {
				t.Fatalf(".gitignore: %q: %v", line, err)
			}
			return ok
		})
	}
}
