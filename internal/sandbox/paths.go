package sandbox

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

const (
	maxPathLen   = 200
	maxPathDepth = 16
)

var pathPart = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// CheckPath reports why a path cannot be in a workspace, or nil: it must be
// relative, clean, short, and of plain ASCII characters, so that two spellings
// never name one file.
func CheckPath(name string) error {
	if name == "" || len(name) > maxPathLen {
		return fmt.Errorf("path must have 1 to %d characters", maxPathLen)
	}
	parts := strings.Split(name, "/")
	if len(parts) > maxPathDepth {
		return fmt.Errorf("path is deeper than %d", maxPathDepth)
	}
	for _, p := range parts {
		if p == "." || p == ".." || !pathPart.MatchString(p) {
			return fmt.Errorf("path %q is not a clean relative path of letters, digits, '.', '_' and '-'", name)
		}
	}
	return nil
}

// IsTestFile reports whether a path is a test file by pytest's convention.
func IsTestFile(name string) bool {
	b := path.Base(name)
	return strings.HasSuffix(b, ".py") && (strings.HasPrefix(b, "test_") || strings.HasSuffix(b, "_test.py"))
}

// checkFiles reports why a workspace cannot be materialised within lim.
func checkFiles(files Files, lim Limits) error {
	var total int64
	folders := map[string]bool{}
	for name, data := range files {
		if err := CheckPath(name); err != nil {
			return err
		}
		if int64(len(data)) > lim.FileBytes {
			return fmt.Errorf("file %s has more than %d bytes", name, lim.FileBytes)
		}
		total += (int64(len(data)) + 4095) &^ 4095
		for i := range name {
			if name[i] == '/' {
				folders[name[:i]] = true
			}
		}
	}
	for f := range folders {
		if _, ok := files[f]; ok {
			return fmt.Errorf("%s is both a file and a folder", f)
		}
	}
	// Half of the space is left to the code that runs.
	if total > lim.DiskBytes/2 || len(files)+len(folders) > lim.Inodes/2 {
		return fmt.Errorf("workspace of %d files and %d bytes is too large", len(files), total)
	}
	return nil
}

// orElse fills the zero fields of l from d.
func (l Limits) orElse(d Limits) Limits {
	if l.Wall == 0 {
		l.Wall = d.Wall
		if l.Asleep == 0 {
			l.Asleep = d.Asleep
		}
	}
	if l.Asleep == 0 {
		l.Asleep = l.Wall
	}
	if l.CPU == 0 {
		l.CPU = d.CPU
	}
	if l.MemoryBytes == 0 {
		l.MemoryBytes = d.MemoryBytes
	}
	if l.Pids == 0 {
		l.Pids = d.Pids
	}
	if l.DiskBytes == 0 {
		l.DiskBytes = d.DiskBytes
	}
	if l.Inodes == 0 {
		l.Inodes = d.Inodes
	}
	if l.FileBytes == 0 {
		l.FileBytes = d.FileBytes
	}
	if l.OutputBytes == 0 {
		l.OutputBytes = d.OutputBytes
	}
	if l.AnswerBytes == 0 {
		l.AnswerBytes = d.AnswerBytes
	}
	return l
}

// wireLimits are the limits as a child reads them.
func (l Limits) wire() map[string]int64 {
	cpu := int64(l.CPU.Seconds())
	if float64(cpu) < l.CPU.Seconds() {
		cpu++
	}
	return map[string]int64{
		"cpu": cpu, "memory": l.MemoryBytes, "pids": int64(l.Pids),
		"disk": l.DiskBytes, "inodes": int64(l.Inodes), "file": l.FileBytes,
	}
}
