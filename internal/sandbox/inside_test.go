//go:build linux

package sandbox

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestProbeHolds(t *testing.T) {
	rep, err := pool(t).Probe(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range rep.Checks {
		if !c.OK {
			t.Errorf("%s: %s", c.Name, c.Saw)
		}
	}
	if !rep.Mode.Safe() || len(rep.Checks) < 10 {
		t.Errorf("%+v", rep)
	}
}

func value(t *testing.T, p *Pool, text string) string {
	t.Helper()
	a, res := call1(t, p, text, Limits{Wall: 20 * time.Second})
	if res.Fault != FaultNone || a.Raised != nil {
		t.Fatalf("%+v", res)
	}
	return a.Value.String()
}

// What a child can see of where it is says nothing about who asks and why.
func TestSurroundingsAreNeutral(t *testing.T) {
	p := pool(t)
	for _, c := range []struct{ name, text, want string }{
		{"folder", "import os\ndef f(): return os.getcwd()", "'/home/w'"},
		{"environment", "import os\ndef f(): return sorted(os.environ.items())", "[('HOME', '/home/w'), ('LANG', 'C.UTF-8'), ('PATH', '/usr/local/bin:/usr/bin:/bin'), ('PYTHONHASHSEED', '0'), ('TMPDIR', '/home/tmp')]"},
		{"arguments", "import sys\ndef f(): return sys.argv", "['']"},
		{"workspace", "import os\ndef f(): return sorted(os.listdir('/home/w') + os.listdir('/tmp'))", "['solution.py']"},
		{"host name", "import os\ndef f(): return os.uname().nodename", "'localhost'"},
		{"process id", "import os\ndef f(): return (os.getpid(), os.getppid())", "(1, 0)"},
		{"descriptors", "import os\ndef open_ones():\n    for fd in range(200):\n        try: os.fstat(fd)\n        except OSError: continue\n        yield fd\ndef f(): return list(open_ones())", "[0, 1, 2, 3]"},
		{"network", "import socket\ndef f(): return [n for _, n in socket.if_nameindex()] if 0 else []", "[]"},
		{"no processes to see", "import os\ndef f(): return os.path.exists('/proc/self')", "False"},
		{"top folder", "import os\ndef f(): return [d for d in os.listdir('/') if d in ('proc', 'sys', 'var', 'srv', 'run', 'boot', 'work')]", "[]"},
		{"equal hashes", "def f(): return hash('a') == hash('a') and list({'x', 'y', 'z'})", value(t, p, "def f(): return list({'x', 'y', 'z'})")},
		{"equal chance", "import random\ndef f(): return random.random()", value(t, p, "import random\ndef f(): return random.random()")},
		{"no capability", "import ctypes\ndef f():\n    d = (ctypes.c_uint32 * 6)(); h = (ctypes.c_uint32 * 2)(0x20080522, 0)\n    ctypes.CDLL(None).capget(h, d)\n    return list(d)", "[0, 0, 0, 0, 0, 0]"},
		{"no privilege to gain", "import ctypes\ndef f(): return ctypes.CDLL(None).prctl(39, 0, 0, 0, 0)", "1"},
		{"no bounding set", "import ctypes\ndef f(): return sum(ctypes.CDLL(None).prctl(23, n, 0, 0, 0) for n in range(41))", "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := value(t, p, c.text); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// Nothing that one run leaves is there for the next.
func TestRunsShareNothing(t *testing.T) {
	p := pool(t)
	leave := `
import os, builtins, sys, json
for d in ("/home", "/home/w", "/tmp", "/var/tmp", "/dev", "/dev/shm", "/usr/lib", "/etc"):
    try: open(os.path.join(d, "note"), "w").write("x")
    except OSError: pass
builtins.note = 1; json.note = 1; sys.note = 1; os.environ["NOTE"] = "1"
def f(): return 1
`
	look := `
import os, builtins, sys, json
def f():
    seen = [n for n, o in (("builtins", builtins), ("json", json), ("sys", sys)) if hasattr(o, "note")]
    return seen + [d for top in ("/home", "/tmp", "/var", "/dev", "/etc") for d, _, names in os.walk(top) if "note" in names] + [k for k in os.environ if k == "NOTE"]
`
	for range 3 {
		value(t, p, leave)
		if got := value(t, p, look); got != "[]" {
			t.Errorf("a later run sees %s", got)
		}
	}
}

// The interpreter may come from anywhere: Debian, a version manager's shim, a
// virtual environment in a closed folder.
func TestInterpreters(t *testing.T) {
	tmp := t.TempDir()
	venv := filepath.Join(tmp, "closed", "venv")
	if out, err := exec.CommandContext(t.Context(), "/usr/bin/python3", "-m", "venv", "--system-site-packages", "--without-pip", venv).CombinedOutput(); err != nil {
		t.Fatalf("make a virtual environment: %v\n%s", err, out)
	}
	if os.Geteuid() == 0 { // as root, children run as another user who cannot look in here
		if err := os.Chmod(filepath.Dir(venv), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"/usr/bin/python3", filepath.Join(venv, "bin", "python3")}
	if path, err := exec.LookPath("python3"); err == nil && path != "/usr/bin/python3" {
		names = append(names, path)
	}
	for _, name := range names {
		p := newPool(t, Config{Python: name})
		works(t, p)
		if got := value(t, p, "import sys, subprocess\ndef f(): return subprocess.run([sys.executable, '-c', 'print(6*7)'], capture_output=True, text=True).stdout"); got != `'42\n'` {
			t.Errorf("%s: a Python below it says %s", name, got)
		}
		r, err := p.Pytest(context.Background(), PytestJob{Files: Files{"test_a.py": []byte("def test_a(): assert 1")}})
		if err != nil || !r.AllPassed() {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	for _, bad := range []string{"/nonexistent/python3", "/bin/true"} {
		if _, err := New(context.Background(), Config{Python: bad}); err == nil || !strings.Contains(err.Error(), "python3") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Files that must not be seen are not, even below a folder that is bound.
func TestHiddenPlaces(t *testing.T) {
	lib, err := filepath.Glob("/usr/lib/python3*/email")
	if err != nil || len(lib) == 0 {
		t.Fatalf("no folder of the library to hide: %v", err)
	}
	p := newPool(t, Config{Python: "/usr/bin/python3", Hide: []string{lib[0], "/usr/bin/env"}})
	if got := value(t, p, "import os\ndef f(): return [os.listdir('"+lib[0]+"'), os.path.getsize('/usr/bin/env')]"); got != "[[], 0]" {
		t.Errorf("a hidden place shows %s", got)
	}
}
