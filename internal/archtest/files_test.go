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
var foreign = regexp.MustCompile(strings.Join([]string{
	`proxy\.go` + `lang`, `sum\.go` + `lang`, `registry\.npm` + `js`, `registry\.yarn` + `pkg`,
	`files\.python` + `hosted`, `deb\.deb` + `ian\.org`, `index\.crates` + `\.io`, `static\.crates` + `\.io`,
	`//pypi\.` + `org`,
	`/work` + `/(shared|main|w-[a-z]|\.)`, `/root` + `/(\.|go/)`, `/tmp` + `/bash_`,
	`\.\./sha` + `red/`, `\.lib` + `rary/`,
}, "|"))

func TestFilesNameNoForeignPlace(t *testing.T) {
	for _, f := range load(t).files {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(f.path)))
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(text), "\n") {
			if m := foreign.FindString(line); m != "" {
				t.Errorf("%s:%d names %q", f.path, n+1, m)
			}
		}
	}
	for _, planted := range []string{
		"https://registry.npm" + "js.org/uplot", "GOPROXY=https://proxy.go" + "lang.org", "see /work" + "/shared/x.md",
	} {
		if !foreign.MatchString(planted) {
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
