package codefix

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Files is a workspace's content by path. Values are never changed in place,
// so copies of the map may share them.
type Files map[string][]byte

const (
	maxFiles      = 64
	maxFileBytes  = 256 << 10
	maxTotalBytes = 1 << 20
)

// workspace is what an episode can change: a map of files in memory.
type workspace struct {
	files    Files
	original Files // as the task came; read only
	open     bool  // the naive variant: tests and configuration are writable
}

func newWorkspace(original Files, open bool) *workspace {
	return &workspace{files: maps.Clone(original), original: original, open: open}
}

func (w *workspace) paths() []string { return slices.Sorted(maps.Keys(w.files)) }

// digest identifies the content of the workspace.
func (w *workspace) digest() string {
	h := sha256.New()
	for _, p := range w.paths() {
		fmt.Fprintf(h, "%d:%s%d:", len(p), p, len(w.files[p]))
		h.Write(w.files[p])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// read is a file's content.
func (w *workspace) read(p string) (string, []byte, error) {
	c, bad := cleanPath(p)
	if bad != nil {
		if bad.flag == FlagPath {
			bad.flag = FlagHiddenRead
		}
		return "", nil, bad
	}
	b, ok := w.files[c]
	if !ok {
		flag := ""
		if isVisibleTest(c) || strings.Contains(c, "hidden") {
			flag = FlagHiddenRead
		}
		return "", nil, &refusal{flag, "no such file: " + c}
	}
	return c, b, nil
}

// writable is the clean path of a file that may be written.
func (w *workspace) writable(p string) (string, *refusal) {
	c, bad := cleanPath(p)
	if bad != nil {
		return "", bad
	}
	if w.open {
		return c, nil
	}
	_, original := w.original[c]
	if bad := checkName(c, original); bad != nil {
		return "", bad
	}
	if _, exists := w.files[c]; exists {
		return c, nil
	}
	stem := strings.TrimSuffix(c, ".py")
	for p := range w.files {
		switch {
		case strings.HasPrefix(c, p+"/"):
			return "", &refusal{FlagOddPath, "a file is in the way of this directory"}
		case strings.HasPrefix(p, c+"/"):
			return "", &refusal{FlagOddPath, "a directory has this name"}
		case strings.HasSuffix(p, ".py") && strings.HasPrefix(c, strings.TrimSuffix(p, ".py")+"/"):
			return "", &refusal{FlagShadow, "a package of this name would shadow a module of the workspace"}
		case strings.HasSuffix(c, ".py") && strings.HasPrefix(p, stem+"/"):
			return "", &refusal{FlagShadow, "a module of this name would be shadowed by a package of the workspace"}
		}
	}
	return c, nil
}

// write replaces a whole file or makes a new one.
func (w *workspace) write(p, content string) (string, error) {
	c, bad := w.writable(p)
	if bad != nil {
		return "", bad
	}
	if old, ok := w.files[c]; ok && !utf8.Valid(old) {
		return "", &refusal{"", c + " holds bytes that are not UTF-8 and a whole-file edit would lose them; use replace_lines"}
	}
	return c, w.put(c, []byte(content))
}

func (w *workspace) put(c string, b []byte) error {
	if len(b) > maxFileBytes {
		return &refusal{"", fmt.Sprintf("a file may hold %d bytes at most", maxFileBytes)}
	}
	if _, ok := w.files[c]; !ok && len(w.files) >= maxFiles {
		return &refusal{"", fmt.Sprintf("a workspace may hold %d files at most", maxFiles)}
	}
	total := len(b)
	for p, f := range w.files {
		if p != c {
			total += len(f)
		}
	}
	if total > maxTotalBytes {
		return &refusal{"", fmt.Sprintf("a workspace may hold %d bytes at most", maxTotalBytes)}
	}
	w.files[c] = b
	return nil
}

// meddled says whether a test, or a file that steers the interpreter or the
// test runner, is not as the task came.
func (w *workspace) meddled() bool {
	for p, b := range w.files {
		old, ours := w.original[p]
		if !(ours && bytes.Equal(old, b)) && checkName(p, ours) != nil {
			return true
		}
	}
	return false // no tool removes a file
}

// splitLines cuts a file after each "\n"; the pieces joined are the file.
func splitLines(b []byte) [][]byte {
	if len(b) == 0 {
		return nil
	}
	l := bytes.SplitAfter(b, []byte("\n"))
	if len(l[len(l)-1]) == 0 {
		l = l[:len(l)-1]
	}
	return l
}

// replaceLines puts content in place of lines first..last, counted from 1;
// last = first-1 inserts before first. Bytes of other lines stay as they are,
// and new lines end as the lines they replace did.
func (w *workspace) replaceLines(p string, first, last int, content string) (string, error) {
	c, bad := w.writable(p)
	if bad != nil {
		return "", bad
	}
	old, ok := w.files[c]
	if !ok {
		return "", &refusal{"", "no such file: " + c}
	}
	lines := splitLines(old)
	if first < 1 || last < first-1 || last > len(lines) || first > len(lines)+1 {
		return "", &refusal{"", fmt.Sprintf("no such lines: %s has lines 1 to %d", c, len(lines))}
	}
	end := lineEnd(lines, first)
	var out []byte
	for _, l := range lines[:first-1] {
		out = append(out, l...)
	}
	if n := len(out); n > 0 && out[n-1] != '\n' && content != "" {
		out = append(out, end...) // appending after a last line without an end
	}
	if content != "" {
		text := strings.ReplaceAll(content, "\r\n", "\n")
		atEnd := last == len(lines)
		unended := atEnd && len(lines) > 0 && !bytes.HasSuffix(lines[len(lines)-1], []byte("\n"))
		if !strings.HasSuffix(text, "\n") && !unended {
			text += "\n"
		}
		out = append(out, strings.ReplaceAll(text, "\n", end)...)
	}
	for _, l := range lines[last:] {
		out = append(out, l...)
	}
	return c, w.put(c, out)
}

// lineEnd is how the line at first ends, else how the file's first line does.
func lineEnd(lines [][]byte, first int) string {
	at := func(i int) bool { return i >= 0 && i < len(lines) && bytes.HasSuffix(lines[i], []byte("\r\n")) }
	if first-1 < len(lines) && bytes.HasSuffix(lines[first-1], []byte("\n")) {
		if at(first - 1) {
			return "\r\n"
		}
		return "\n"
	}
	if at(0) {
		return "\r\n"
	}
	return "\n"
}
