package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxFile bounds a committed file: data larger than this is generated or
// fetched by whoever needs it.
const maxFile = 1 << 20

// foreign matches what no committed file may name: the host of a package
// registry (each language's own tool knows where its packages are) and the
// folders of whatever machine the work happened on. The words are broken up so
// that this file does not match itself.
var foreign = []*regexp.Regexp{ // one each, so that their literal prefixes make them fast
	regexp.MustCompile(`proxy\.go` + `lang`),
	regexp.MustCompile(`sum\.go` + `lang`),
	regexp.MustCompile(`registry\.npm` + `js`),
	regexp.MustCompile(`registry\.yarn` + `pkg`),
	regexp.MustCompile(`files\.python` + `hosted`),
	regexp.MustCompile(`//pypi\.` + `org`),
	regexp.MustCompile(`deb\.deb` + `ian\.org`),
	regexp.MustCompile(`index\.crates` + `\.io`),
	regexp.MustCompile(`static\.crates` + `\.io`),
	regexp.MustCompile(`/work` + `/(shared|main|w-[a-z]|\.)`),
	regexp.MustCompile(`/root` + `/(\.|go/)`),
	regexp.MustCompile(`/tmp` + `/bash_`),
	regexp.MustCompile(`\.\./sha` + `red/`),
	regexp.MustCompile(`\.lib` + `rary/`),
}

// findForeign returns the first such name in text and its line, or 0.
func findForeign(text string) (line int, found string) {
	for _, r := range foreign {
		if at := r.FindStringIndex(text); at != nil {
			return 1 + strings.Count(text[:at[0]], "\n"), text[at[0]:at[1]]
		}
	}
	return 0, ""
}

func TestFilesNameNoForeignPlace(t *testing.T) {
	for _, f := range load(t).files {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(f.path)))
		if err != nil {
			t.Fatal(err)
		}
		if line, found := findForeign(string(text)); line > 0 {
			t.Errorf("%s:%d names %q", f.path, line, found)
		}
	}
	for _, planted := range []string{
		"https://registry.npm" + "js.org/uplot", "GOPROXY=https://proxy.go" + "lang.org", "see /work" + "/shared/x.md",
	} {
		if line, _ := findForeign(planted); line != 1 {
			t.Errorf("the pattern misses %q", planted)
		}
	}
}

func TestFilesAreSmall(t *testing.T) {
	for _, f := range load(t).files {
		if f.size > maxFile {
			t.Errorf("%s has %d bytes, more than %d", f.path, f.size, maxFile)
		}
	}
}

func TestPackagesSayWhatTheyAreFor(t *testing.T) {
	for _, p := range load(t).packages {
		switch {
		case len(p.docs) == 0:
			t.Errorf("%s has no package comment", p.path)
		case len(p.docs) > 1:
			t.Errorf("%s has %d package comments", p.path, len(p.docs))
		case !strings.HasPrefix(p.docs[0], "Package ") && !strings.HasPrefix(p.docs[0], "Command "):
			t.Errorf("%s: the package comment starts with neither Package nor Command: %q", p.path, strings.SplitN(p.docs[0], "\n", 2)[0])
		case len(strings.Fields(p.docs[0])) < 12:
			t.Errorf("%s: the package comment says too little: %q", p.path, p.docs[0])
		}
	}
}

// Registration and set-up are explicit calls, so that what a program holds can
// be read in its main.
func TestNoPackageHasInit(t *testing.T) {
	for _, p := range load(t).packages {
		for _, f := range p.inits {
			t.Errorf("%s declares func init", f)
		}
	}
}
