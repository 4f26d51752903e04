//go:build linux

package sandbox

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"
)

// slack is what a run may take beyond its limit.
const slack = time.Second

// TestLimitsEndARun runs past each limit. Timings are tried again, because a
// machine that does nothing for a second says nothing about the sandbox.
func TestLimitsEndARun(t *testing.T) {
	p := pool(t)
	wall := Limits{Wall: 500 * time.Millisecond}
	long := Limits{Wall: 20 * time.Second, CPU: time.Second}
	for _, c := range []struct {
		name, text string
		lim        Limits
		want       []Fault // FaultNone: an exception in the code, of which the run says nothing
		raised     string
	}{
		{"wall time, asleep", "import time\ndef f(): time.sleep(99)", wall, []Fault{FaultWall}, ""},
		{"wall time, at import", "__import__('time').sleep(99)", wall, []Fault{FaultWall}, ""},
		{"wall time, stopped", "import os, signal\ndef f():\n    p = os.fork()\n    if p == 0: os.kill(os.getpid(), signal.SIGSTOP)\n    os.waitpid(p, 0)", wall, []Fault{FaultWall}, ""},
		{"wall time, with daemons", "import os, time\ndef f():\n    for _ in range(4):\n        if os.fork() == 0:\n            os.setsid()\n            time.sleep(999)\n    time.sleep(99)", wall, []Fault{FaultWall}, ""},
		{"wall time, at work", "def f():\n    while True: pass", wall, []Fault{FaultWall}, ""},
		{"CPU", "def f():\n    while True: pass", long, []Fault{FaultCPU}, ""},
		{"CPU, signals ignored", "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\ndef f():\n    while True: pass", long, []Fault{FaultCPU}, ""},
		{"memory", "def f(): return len(bytearray(1 << 40))", Limits{}, []Fault{FaultNone}, "MemoryError"},
		{"memory, piecemeal", "def f():\n    x = []\n    while True: x.append(bytearray(4 << 20))", Limits{MemoryBytes: 128 << 20}, []Fault{FaultNone}, "MemoryError"},
		{"processes", "import os\ndef f():\n    n = 0\n    while True:\n        if os.fork() == 0:\n            while True: os.kill(os.getpid(), 19)\n        n += 1", Limits{}, []Fault{FaultNone}, "BlockingIOError"},
		{"threads", "import threading, time\ndef f():\n    while True: threading.Thread(target=time.sleep, args=(99,), daemon=True).start()", Limits{}, []Fault{FaultNone}, "RuntimeError"},
		{"one file", "def f(): open('x', 'wb').write(b'0' * (9 << 20))", Limits{}, []Fault{FaultNone, FaultCrash}, "OSError"},
		{"disk", "def f():\n    for n in range(99): open(str(n), 'wb').write(b'0' * (1 << 20))", Limits{}, []Fault{FaultNone}, "OSError"},
		{"files", "def f():\n    for n in range(9999): open(str(n), 'w').close()", Limits{}, []Fault{FaultNone}, "OSError"},
		{"answers", "def f(): return 'x' * (5 << 20)", Limits{}, []Fault{FaultOutput}, ""},
		{"answers, small cap", "def f(): return 'x' * 5000", Limits{AnswerBytes: 1000}, []Fault{FaultOutput}, ""},
		{"crash", "import os\ndef f(): os._exit(0)", Limits{}, []Fault{FaultCrash}, ""},
		{"segmentation fault", "import ctypes\ndef f(): ctypes.string_at(0)", Limits{}, []Fault{FaultCrash}, ""},
		{"import error", "import nothing_of_this_name", Limits{}, []Fault{FaultImport}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var took time.Duration
			for range 4 {
				begin := time.Now()
				a, res := call1(t, p, c.text, c.lim)
				took = time.Since(begin)
				ok := false
				for _, f := range c.want {
					ok = ok || res.Fault == f
				}
				if !ok {
					t.Fatalf("fault %q (%s), want one of %q", res.Fault, res.Detail, c.want)
				}
				if res.Fault == FaultNone {
					names := []string{}
					for _, k := range a.Raised {
						names = append(names, k.Name)
					}
					if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+c.raised+" ") {
						t.Fatalf("raised %v, want %s", names, c.raised)
					}
				}
				if took <= c.lim.orElse(p.plan.limits).Wall+slack {
					break
				}
			}
			if lim := c.lim.orElse(p.plan.limits).Wall; took > lim+slack {
				t.Errorf("took %s with a limit of %s", took, lim)
			}
			works(t, p)
		})
	}
}

// A background grandchild that keeps the output open must not keep the caller
// (B19), and output beyond the cap ends the run.
func TestOutputLimits(t *testing.T) {
	p := pool(t)
	for _, c := range []struct {
		name, text string
		want       Fault
		passed     int
	}{
		{"grandchild holds the output", "import subprocess\ndef test_a():\n    subprocess.Popen(['sleep', '300'], start_new_session=True)\n", FaultNone, 1},
		{"flood", "import os\ndef test_a():\n    while True: os.write(1, b'y' * 65536)\n", FaultOutput, 0},
		{"flood at exit", "import atexit, os\natexit.register(lambda: [os.write(1, b'y' * (1 << 20)) for _ in range(50)])\ndef test_a(): pass\n", FaultNone, 1},
		{"hang in a test", "import time\ndef test_ok(): pass\ndef test_a(): time.sleep(99)\n", FaultWall, 1},
		{"exit in a test", "import os\ndef test_ok(): pass\ndef test_a(): os._exit(0)\n", FaultCrash, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin := time.Now()
			lim := Limits{Wall: 3 * time.Second}
			r, err := p.Pytest(context.Background(), PytestJob{Files: Files{"test_x.py": []byte(c.text)}, Limits: lim})
			if err != nil || r.Fault != c.want || r.Passed != c.passed {
				t.Errorf("%+v, %v", r, err)
			}
			if took := time.Since(begin); took > lim.Wall+2*slack {
				t.Errorf("took %s", took)
			}
			if len(r.Output) > 2*keptOutput {
				t.Errorf("%d bytes of output were kept", len(r.Output))
			}
		})
	}
}

// Code that is at work outlives what a sleeper gets, and no run outlives its
// wall time or its caller.
func TestSleepersEndFirst(t *testing.T) {
	p := pool(t)
	spin := "import time\ndef f():\n    end = time.monotonic() + 2\n    while time.monotonic() < end: pass\n    return 7"
	child := "import os\ndef f():\n    if not os.fork():\n        exec(" + strconv.Quote(strings.Replace(spin, "return 7", "pass", 1)+"\nf()") + ", {})\n        os._exit(0)\n    os.wait()\n    return 7"
	for _, text := range []string{spin, child} {
		// On a busy machine much of what it gets may pass before it begins.
		if a, res := call1(t, p, text, Limits{Wall: 20 * time.Second, Asleep: time.Second}); res.Fault != FaultNone || a.Value.String() != "7" {
			t.Errorf("at work: fault %q, raised %v", res.Fault, a.Raised)
		}
	}
	lim := Limits{Wall: 20 * time.Second, Asleep: 500 * time.Millisecond}
	var took time.Duration
	for range 4 { // see TestLimitsEndARun
		begin := time.Now()
		if _, res := call1(t, p, "import time\ndef f(): time.sleep(600)", lim); res.Fault != FaultWall {
			t.Errorf("asleep: fault %q", res.Fault)
		}
		if took = time.Since(begin); took <= lim.Asleep+slack {
			break
		}
	}
	if took > lim.Asleep+slack {
		t.Errorf("a sleeper ended after %v", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	res, err := p.Calls(ctx, CallsJob{Files: solution("def f():\n    while True: pass"), Calls: []Call{{Fn: "f"}}, Limits: Limits{Wall: time.Hour, CPU: time.Hour}})
	if err != nil || res.Fault != FaultWall {
		t.Errorf("with a caller who waits four seconds: fault %q, %v", res.Fault, err)
	}
}

func TestDefaultOfAsleep(t *testing.T) {
	d := DefaultLimits()
	for _, c := range []struct{ in, want Limits }{
		{Limits{}, Limits{Wall: d.Wall, Asleep: d.Asleep}},
		{Limits{Wall: time.Minute}, Limits{Wall: time.Minute, Asleep: time.Minute}},
		{Limits{Asleep: time.Second}, Limits{Wall: d.Wall, Asleep: time.Second}},
	} {
		if got := c.in.orElse(d); got.Wall != c.want.Wall || got.Asleep != c.want.Asleep {
			t.Errorf("%v, %v became %v, %v", c.in.Wall, c.in.Asleep, got.Wall, got.Asleep)
		}
	}
}
