package web_test

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/web"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := fs.ReadFile(web.FS(), name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func each(t *testing.T, ext string, do func(name, text string)) {
	t.Helper()
	n := 0
	err := fs.WalkDir(web.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(p) == ext {
			n++
			do(p, read(t, p))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		t.Fatalf("no %s file is embedded", ext)
	}
}

// The server sends "default-src 'self'": inline scripts, inline styles and
// other hosts would be refused by the browser.
func TestPageNeedsNothingThatItsPolicyRefuses(t *testing.T) {
	html := read(t, "index.html")
	for _, bad := range []string{`<style`, ` style=`, `javascript:`, `http://`, `https://`, ` onload=`, ` onclick=`} {
		if strings.Contains(html, bad) {
			t.Errorf("index.html contains %q", bad)
		}
	}
	if m := regexp.MustCompile(`<script[^>]*>[^<]`).FindString(html); m != "" {
		t.Errorf("index.html has an inline script: %q", m)
	}
	each(t, ".css", func(name, text string) {
		if regexp.MustCompile(`@import|url\(`).MatchString(text) {
			t.Errorf("%s loads another resource", name)
		}
	})
}

// What an agent wrote is hostile: it reaches the page as text nodes only.
func TestScriptsNeverMakeMarkupFromText(t *testing.T) {
	bad := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|\beval\(|new Function|setAttribute\(["']style|srcdoc`)
	each(t, ".js", func(name, text string) {
		if m := bad.FindString(text); m != "" {
			t.Errorf("%s uses %s", name, m)
		}
	})
	if !bad.MatchString("el.innerHTML = text") {
		t.Error("the pattern misses innerHTML")
	}
}

// Every import and every file that the page asks for is in the binary.
func TestEveryReferenceIsEmbedded(t *testing.T) {
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"#]+)"`).FindAllStringSubmatch(read(t, "index.html"), -1) {
		read(t, m[1])
	}
	each(t, ".js", func(name, text string) {
		for _, m := range regexp.MustCompile(`from "([^"]+)"`).FindAllStringSubmatch(text, -1) {
			if !strings.HasPrefix(m[1], "./") {
				t.Errorf("%s imports %s from outside", name, m[1])
				continue
			}
			read(t, path.Join(path.Dir(name), m[1]))
		}
	})
}
