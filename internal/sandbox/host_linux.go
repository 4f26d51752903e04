package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// python is what is known of an interpreter on this machine.
type python struct {
	Executable string   `json:"executable"`
	Real       string   `json:"real"`
	Prefixes   []string `json:"prefixes"`
	Stdlib     []string `json:"stdlib"`
	Path       []string `json:"path"`
	Libs       []string `json:"libs"`
	Version    []int    `json:"version"`
	Pytest     string   `json:"pytest"`
}

// askPython is run by the interpreter itself: through a shim such as pyenv's
// or in a virtual environment only the interpreter knows where it really is.
const askPython = `
import json, os, sys, sysconfig
for m in ("ctypes", "hashlib", "ssl", "decimal", "bz2", "lzma", "zlib", "sqlite3", "unicodedata", "_uuid"):
    try: __import__(m)
    except ImportError: pass
try:
    import pytest; v = pytest.__version__
except ImportError: v = ""
libs = sorted({l.split(None, 5)[5].strip() for l in open("/proc/self/maps") if len(l.split()) > 5 and ".so" in l and "/" in l})
print(json.dumps({"executable": sys.executable, "real": os.path.realpath(sys.executable), "prefixes": [sys.prefix, sys.base_prefix],
  "stdlib": [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")], "path": [p for p in sys.path if os.path.isabs(p)],
  "libs": libs, "version": list(sys.version_info[:2]), "pytest": v}))
`

// findPython finds the interpreter to use. An empty name means the first that
// has pytest of python3 on PATH and Debian's.
func findPython(ctx context.Context, name string) (python, error) {
	names := []string{name}
	if name == "" {
		names = []string{"python3", "/usr/bin/python3"}
	}
	var errs []error
	for _, n := range names {
		py, err := inspectPython(ctx, n)
		if err == nil {
			return py, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", n, err))
	}
	return python{}, fmt.Errorf("%w (it needs version 3.9 or later and pytest, for instance Debian's python3-pytest): %w", ErrInterpreter, errors.Join(errs...))
}

func inspectPython(ctx context.Context, name string) (python, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute) // a machine may be busy
	defer cancel()
	path, err := exec.LookPath(name)
	if err != nil {
		return python{}, err
	}
	cmd := exec.CommandContext(ctx, path, "-s", "-B", "-c", askPython)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LANG=C.UTF-8"}
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return python{}, fmt.Errorf("ask the interpreter: %w", err)
	}
	var py python
	if err := json.Unmarshal(out, &py); err != nil {
		return python{}, fmt.Errorf("read the interpreter's answer: %w", err)
	}
	if len(py.Version) != 2 || py.Version[0] != 3 || py.Version[1] < 9 {
		return python{}, fmt.Errorf("version %v is too old", py.Version)
	}
	if py.Pytest == "" {
		return python{}, errors.New("it has no pytest")
	}
	return py, nil
}

// layout is what a child's root is made of.
type layout struct {
	binds []string          // bound read-only at their own place, parents first
	links map[string]string // symbolic links
	hide  []string
}

func covered(path string, by []string) bool {
	return slices.ContainsFunc(by, func(b string) bool { return path == b || strings.HasPrefix(path, b+"/") })
}

// planRoot chooses the least that lets the interpreter and the usual small
// programs run.
func planRoot(py python, hide []string) (layout, error) {
	l := layout{links: map[string]string{}, binds: []string{}, hide: []string{}}
	want := []string{"/usr/bin", "/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/share/zoneinfo", "/etc/ld.so.cache"}
	for _, p := range []string{"/bin", "/lib", "/lib64", "/lib32"} {
		if target, err := os.Readlink(p); err == nil {
			l.links[p] = target
		} else {
			want = append(want, p)
		}
	}
	for _, p := range py.Prefixes {
		switch p = filepath.Clean(p); p {
		case "/", "/home", "/root", "/opt", "/var", "/tmp", "/etc":
			return l, fmt.Errorf("%w: its prefix %s is too wide to bind", ErrInterpreter, p)
		case "/usr", "/usr/local": // too much lives there; its parts follow
		default:
			want = append(want, p)
		}
	}
	want = append(want, py.Stdlib...)
	want = append(want, py.Path...)
	want = append(want, py.Libs...)
	want = append(want, py.Executable, py.Real)
	slices.SortStableFunc(want, func(a, b string) int { return len(a) - len(b) })
	for _, p := range want {
		p = filepath.Clean(p)
		if real, err := filepath.EvalSymlinks(p); err != nil {
			continue // not every entry of sys.path exists
		} else if covered(p, l.binds) {
			if !covered(real, l.binds) {
				l.binds = append(l.binds, real)
			}
			continue
		}
		if top := "/" + strings.SplitN(p[1:], "/", 2)[0]; l.links[top] != "" {
			continue // reached through the link
		}
		l.binds = append(l.binds, p)
	}
	if self, err := os.Executable(); err == nil {
		hide = append([]string{self}, hide...) // it may hold tasks
	}
	for _, h := range hide {
		real, err := filepath.EvalSymlinks(h)
		if err != nil {
			continue
		}
		if covered(real, l.binds) {
			l.hide = append(l.hide, real)
		}
	}
	return l, nil
}
