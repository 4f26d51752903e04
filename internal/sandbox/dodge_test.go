//go:build linux

package sandbox

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"
)

// dodges are ways in which code could try to make its own failure look like
// one of ours: an episode that fails is dropped, where a wrong answer is a 0.
// Each is a text that runs at import, so that it is the same attack on calls,
// on pytest and on trusted tests.
var dodges = []struct{ name, text string }{
	{"memory of several processes", `
import os, time
for _ in range(6):
    if os.fork() == 0:
        x = []
        while True: x.append(bytearray(b"x") * (8 << 20))
time.sleep(9)
`},
	{"memory of several processes, the first too", `
import os
for _ in range(6):
    if os.fork() == 0: break
x = []
while True:
    try: x.append(bytearray(b"x") * (4 << 20))
    except MemoryError: pass
`},
	{"memory in files", `
import os, time
for i in range(16):
    open("/home/tmp/%d" % i, "wb").write(b"x" * (1 << 20)) if i < 15 else None
for _ in range(4):
    if os.fork() == 0:
        x = []
        while True: x.append(bytearray(b"x") * (8 << 20))
time.sleep(9)
`},
	{"memory in sockets", `
import os, socket, time
keep = []
try:
    while True:
        a, b = socket.socketpair()
        a.setblocking(False)
        a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
        keep += [a, b]
        try:
            while True: a.send(b"x" * 65536)
        except OSError: pass
except OSError: pass
time.sleep(9)
`},
	{"output pipe in flight", `
import array, os, socket, struct, time
s = socket.socket(fileno=3)
os.write(3, struct.pack(">I", 1 << 30) + b"x" * 100)
for _ in range(40):
    try: s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1]))])
    except OSError: break
`},
	{"output pipe in flight behind a flood", `
import array, os, socket, struct, time
s = socket.socket(fileno=3)
s.setblocking(False)
try:
    os.write(3, struct.pack(">I", 1 << 21))
    while True: os.write(3, b"x" * 4096)
except OSError: pass
for _ in range(40):
    try: s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1]))])
    except OSError: break
os._exit(0)
`},
	{"output pipe in flight, once", `
import array, os, socket
s = socket.socket(fileno=3)
s.sendmsg([b"\xff\xff\xff\xff" * 30], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1]))])
s.sendmsg([b"xxxx"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1, 2]))])
s.sendmsg([b"xxxx"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1, 2]))])
os._exit(0)
`},
	{"output pipe in a cycle of sockets", `
import array, os, socket
for _ in range(8):
    a, b = socket.socketpair()
    a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [a.fileno(), b.fileno(), 1, 2]))])
    b.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [a.fileno(), b.fileno(), 1, 2]))])
os._exit(0)
`},
	{"own socket through itself", `
import array, os, socket
s = socket.socket(fileno=3)
for _ in range(40):
    s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [3] * 200))])
`},
	{"a long pipe of output", `
import fcntl, os
try: fcntl.fcntl(1, 1031, 1 << 20)
except OSError: pass
b = os.fork()
while True: os.write(1, b"\xff\x00\x1b[2J" * 10000)
`},
	{"closes everything", "import os\nos.closerange(0, 64)\n"},
	{"closes its socket and sleeps", "import os, time\nos.close(3)\ntime.sleep(60)\n"},
	{"shuts its socket down", "import socket, time\ns = socket.socket(fileno=3)\ns.shutdown(2)\ntime.sleep(60)\n"},
	{"shuts half of its socket down", "import socket, time\ns = socket.socket(fileno=3)\ns.shutdown(0)\n"},
	{"another in place of its socket", "import os\nos.dup2(os.open('/dev/null', os.O_RDWR), 3)\n"},
	{"eats what it is asked", "import os\nwhile os.read(3, 65536): pass\n"},
	{"a reader beside it", "import os, threading\ndef eat():\n    while True: os.read(3, 100)\nthreading.Thread(target=eat, daemon=True).start()\n"},
	{"garbage, spread out", "import os, time\nwhile True:\n    os.write(3, b'\\0')\n    time.sleep(0.3)\n"},
	{"an endless message", "import os, struct, time\nos.write(3, struct.pack('>I', 1 << 20))\nwhile True:\n    os.write(3, b'x')\n    time.sleep(0.1)\n"},
	{"deeply nested message", "import os, struct\nd = b'[' * (1 << 20)\nos.write(3, struct.pack('>I', len(d)) + d)\n"},
	{"deeply nested value", "import os, struct\nd = b'{\"loaded\": true, \"value\":' + b'[\"l\",[' * 5000 + b']]' * 5000 + b'}'\nos.write(3, struct.pack('>I', len(d)) + d)\n"},
	{"message of invalid UTF-8", "import os, struct\nd = b'{\"loaded\": true, \"detail\": \"\\xff\\xfe\\x80\"}'\nos.write(3, struct.pack('>I', len(d)) + d)\n"},
	{"null for everything", "import os, struct\nd = b'{\"loaded\": null, \"id\": null, \"value\": null, \"end\": null, \"call\": null, \"args\": null, \"test\": null}'\nwhile True: os.write(3, struct.pack('>I', len(d)) + d)\n"},
	{"a message of null", "import os, struct\nd = b'null'\nwhile True: os.write(3, struct.pack('>I', len(d)) + d)\n"},
	{"empty messages", "import os\nwhile True: os.write(3, b'\\0\\0\\0\\0')\n"},
	{"huge numbers", "import os, struct\nd = b'{\"loaded\": true, \"end\": 1e999}'\nos.write(3, struct.pack('>I', len(d)) + d)\n"},
	{"says that it is ready", "import os, struct\nfor d in (b'{\"ready\": true}', b'{\"prepared\": true}', b'{\"setup\": \"no space\"}'): os.write(3, struct.pack('>I', len(d)) + d)\n"},
	{"kills everybody", "import os\nfor p in range(1, 400):\n    try: os.kill(p, 9)\n    except OSError: pass\ntry: os.kill(-1, 9)\nexcept OSError: pass\nos.abort()\n"},
	{"every signal to itself", "import os, signal\nfor s in range(1, 65):\n    if s not in (9, 19):\n        try: signal.signal(s, signal.SIG_IGN)\n        except (OSError, ValueError): pass\nfor s in range(1, 65):\n    try: os.kill(os.getpid(), s)\n    except OSError: pass\nos._exit(137)\n"},
	{"dies of SIGXCPU", "import os, signal\nos.kill(os.getpid(), signal.SIGXCPU)\n"},
	{"dies of a signal in a child", "import os\nif os.fork() == 0: os.kill(os.getpid(), 11)\nos.wait()\nos._exit(255)\n"},
	{"leaves without a word", "import os\nos._exit(0)\n"},
	{"leaves, children stay", "import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(600)\nos._exit(1)\n"},
	{"fork bomb", "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n"},
	{"threads without end", "import threading, time\nwhile True:\n    try: threading.Thread(target=time.sleep, args=(60,)).start()\n    except RuntimeError: pass\n"},
	{"descriptors without end", "import os\nwhile True:\n    try: os.pipe()\n    except OSError: break\n"},
	{"descriptors and processes without end", "import os\nwhile True:\n    try: os.dup(3)\n    except OSError: break\nwhile True:\n    try:\n        if os.fork() == 0: os._exit(0)\n    except OSError: break\n"},
	{"pending signals without end", "import os, signal, ctypes\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))\nlibc = ctypes.CDLL(None)\nfor i in range(200000): libc.sigqueue(os.getpid(), 40, i)\n"},
	{"timers without end", "import ctypes\nlibc = ctypes.CDLL(None)\nt = ctypes.c_void_p()\nfor i in range(100000): libc.timer_create(1, None, ctypes.byref(t))\n"},
	{"disk full", "i = 0\nwhile True:\n    try: open('/home/tmp/%d' % i, 'wb').write(b'x' * 1000000)\n    except OSError: break\n    i += 1\n"},
	{"no inodes", "i = 0\nwhile True:\n    try: open('/home/tmp/%d' % i, 'wb').close()\n    except OSError: break\n    i += 1\n"},
	{"removes its folder", "import os, shutil\nos.chdir('/home')\nshutil.rmtree('/home/w', ignore_errors=True)\nshutil.rmtree('/home/tmp', ignore_errors=True)\n"},
	{"folder as deep as can be", "import os\ntry:\n    while True:\n        os.mkdir('d' * 200)\n        os.chdir('d' * 200)\nexcept OSError: pass\n"},
	{"recursion without end", "import sys\nsys.setrecursionlimit(1 << 30)\ndef g(): g()\ng()\n"},
	{"recursion in the exception", "class E(Exception):\n    def __str__(self): return str(self)\n    __repr__ = __str__\nraise E()\n"},
	{"an exception that raises", "class M(type):\n    def __getattribute__(c, n): raise SystemExit\nclass E(BaseException, metaclass=M):\n    def __getattribute__(s, n): raise KeyboardInterrupt\nraise E()\n"},
	{"an exception with a huge text", "raise ValueError('\\ud800\\x00' * (1 << 24))\n"},
	{"a name of half a character", "class E(Exception): pass\nE.__name__ = 'E\\x00\\x1b' + chr(0xd800)\nraise E('\\udfff')\n"},
	{"interrupts itself", "raise KeyboardInterrupt\n"},
	{"system exit", "raise SystemExit('\\x00')\n"},
	{"generator exit", "raise GeneratorExit\n"},
	{"hooks of the pipe", "import sys\nf = sys._getframe()\nwhile f:\n    p = f.f_locals.get('pipe')\n    if p is not None:\n        p._write = lambda *a: 1 / 0\n        p._dumps = lambda m: '\\xff'\n        p.put = None\n    f = f.f_back\n"},
	{"json is gone", "import json, sys\njson.loads = json.dumps = None\nfor n in list(sys.modules): sys.modules[n] = None\n"},
	{"garbage collector", "import gc\nfor o in gc.get_objects():\n    try: o.clear()\n    except BaseException: pass\n"},
	{"crash at exit", "import atexit, os, sys\natexit.register(os.abort)\nsys.exitfunc = os.abort\nos._exit = os.abort\n"},
	{"segmentation fault", "import ctypes\nctypes.string_at(1)\n"},
	{"illegal instruction of its own", "import ctypes, mmap\nm = mmap.mmap(-1, 4096, prot=7)\nm.write(b'\\x0f\\x0b')\nctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()\n"},
	{"system call that kills", "import ctypes\nlibc = ctypes.CDLL(None)\nfor n in range(0, 470):\n    if n not in (34, 35, 60, 231, 0, 7, 23, 61, 202, 230, 232, 247, 270, 271, 281, 130, 128, 441): libc.syscall(n, 0, 0, 0, 0, 0, 0)\n"},
	{"stops its children", "import os, signal\nfor _ in range(5):\n    p = os.fork()\n    if p == 0: os.kill(os.getpid(), signal.SIGSTOP)\nos.wait()\n"},
	{"work in vfork", "import ctypes\nlibc = ctypes.CDLL(None)\nif libc.vfork() == 0:\n    libc.sleep(100)\n    libc._exit(0)\n"},
	{"other program in its place", "import os\nos.execv('/usr/bin/env', ['env', 'sleep', '60'])\n"},
	{"limits as low as can be", "import resource\nfor r in (resource.RLIMIT_NOFILE, resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC, resource.RLIMIT_DATA, resource.RLIMIT_STACK):\n    resource.setrlimit(r, (0, 0))\n"},
	{"CPU limit as low as can be", "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (0, 0))\nwhile True: pass\n"},
	{"work for all its time", "while True: pass\n"},
	{"work for all its time in turns", "import os\nwhile True:\n    if os.fork() == 0:\n        for _ in range(10 ** 7): pass\n        os._exit(0)\n    os.wait()\n"},
	{"sleep for all its time", "import time\ntime.sleep(600)\n"},
}

var dodgeLimits = Limits{Wall: 2 * time.Second, Asleep: time.Second, CPU: time.Second, OutputBytes: 256 << 10}

// dodge plays an attack by one of the three ways and reports what would be a
// failure of ours, or a success.
func dodge(p *Pool, kind, text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	const body = "\ndef f(x=0): return 0\n"
	begin := time.Now()
	var err error
	right := false
	switch kind {
	case "calls":
		var res CallsResult
		res, err = p.Calls(ctx, CallsJob{Files: solution(text + body), Calls: []Call{{Fn: "f"}, {Fn: "f"}}, Limits: dodgeLimits})
		for _, a := range res.Answers {
			right = right || a.Done && a.Value.String() == "1"
		}
	case "pytest":
		_, err = p.Pytest(ctx, PytestJob{Files: Files{"solution.py": []byte(text + body), "test_a.py": []byte("import solution\ndef test_a(): assert solution.f() == 1\n")}, Limits: dodgeLimits})
	case "proxied":
		var r PytestResult
		r, err = p.Proxied(ctx, ProxiedJob{Files: solution(text + body), Tests: Files{"test_a.py": []byte("import solution\ndef test_a(): assert solution.f() == 1\n")}, Limits: dodgeLimits})
		right = r.AllPassed()
	}
	switch took := time.Since(begin); {
	case err != nil:
		return fmt.Errorf("a failure of ours after %s: %w", took, err)
	case right:
		return fmt.Errorf("wrong code was right")
	case took > 20*time.Second:
		return fmt.Errorf("took %s", took)
	}
	return nil
}

// What code says must not take up the server's memory, which all runs share.
func TestArraysAreCounted(t *testing.T) {
	for text, want := range map[string]int{`["n"]`: 1, `["s", "[[\"[["]`: 1, `{"a": [[], "]", "\\\\", []]}`: 3, `"[`: 0, `"\\`: 0, ``: 0} {
		if got := arrays([]byte(text)); got != want {
			t.Errorf("%s has %d arrays, want %d", text, got, want)
		}
	}
	p := pool(t)
	const forge = "import os, struct\nd = b'{\"loaded\": true, \"value\": [\"l\", [' + b'[\"n\"],' * 650000 + b'[\"n\"]]]}'\nos.write(3, struct.pack('>I', len(d)) + d)\n"
	if _, res := call1(t, p, forge+"def f(): return 1", Limits{}); res.Fault != FaultOutput {
		t.Errorf("fault %q, %s", res.Fault, res.Detail)
	}
	// As much as may be sent, and as is.
	a, res := call1(t, p, "def f(): return [[] for _ in range(199000)]", Limits{})
	if res.Fault != FaultNone || len(a.Value.Items) != 199000 {
		t.Errorf("fault %q, %d items", res.Fault, len(a.Value.Items))
	}
	if a, res = call1(t, p, "def f(): return '[' * 3000000", Limits{}); res.Fault != FaultNone || len(a.Value.Str) != 3000000 {
		t.Errorf("fault %q, %d brackets", res.Fault, len(a.Value.Str))
	}
}

var allDodges = flag.Bool("dodges", false, "play every attack in all three ways")

// Nothing that code does may be counted as a failure of ours.
func TestNoDodge(t *testing.T) {
	p := newPool(t, Config{})
	kinds := []string{"calls", "pytest", "proxied"}
	t.Run("each", func(t *testing.T) {
		for i, d := range dodges {
			shared := strings.HasPrefix(d.name, "memory") || strings.HasPrefix(d.name, "output pipe") // found faults of ours
			if strings.HasPrefix(d.name, "memory") && !strings.Contains(string(p.Mode()), "cgroup") {
				continue // nothing bounds it but the machine's memory
			}
			for k, kind := range kinds {
				if !*allDodges && !shared && k != i%len(kinds) {
					continue
				}
				t.Run(strings.ReplaceAll(d.name, " ", "-")+"/"+kind, func(t *testing.T) {
					t.Parallel()
					ended := make(chan error, 1)
					go func() { ended <- dodge(p, kind, d.text) }()
					select {
					case err := <-ended:
						if err != nil {
							t.Error(err)
						}
					case <-time.After(time.Minute + 30*time.Second):
						t.Error("hangs")
					}
				})
			}
		}
	})
}
