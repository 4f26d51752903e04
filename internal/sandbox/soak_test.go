//go:build linux

package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// held is what this process holds at one moment.
type held struct {
	fds, mounts, groups, processes int
	rss                            int64
}

// groupsOf lists the control groups, of either version, of a server's children.
func groupsOf(pid int) []string {
	var out []string
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, _ fs.DirEntry, _ error) error { // groups come and go on the way
		if strings.HasPrefix(filepath.Base(path), fmt.Sprintf("proctor-%d-", pid)) {
			out = append(out, path)
		}
		return nil
	})
	return out
}

func holds() held {
	runtime.GC()
	d, _ := os.ReadDir("/proc/self/fd")
	m, _ := os.ReadFile("/proc/self/mountinfo")
	mounts := 0
	for line := range bytes.Lines(m) {
		// The tests of other packages, which run meanwhile, mount below their
		// own temporary folders.
		if !bytes.Contains(line, []byte(filepath.Join(os.TempDir(), "Test"))) {
			mounts++
		}
	}
	s, _ := os.ReadFile("/proc/self/statm")
	pages, _ := strconv.ParseInt(strings.Fields(string(s))[1], 10, 64)
	return held{len(d), mounts, len(groupsOf(os.Getpid())), len(descendants(os.Getpid())), pages * int64(os.Getpagesize())}
}

// TestSoak plays many runs of every sort and compares what the process holds
// on the way. "make soak" plays ten thousand.
func TestSoak(t *testing.T) {
	p := pool(t)
	texts := []string{
		"def f(): return 1",
		"import os\ndef f(): os._exit(1)",
		"def f(): return [0] * 5000",
		"import os\nfor _ in range(3): os.fork()\ndef f(): return 2",
		"def f(): raise ValueError(1)",
		"import os\nos.mkdir('d')\nfor n in range(50): open('d/%d' % n, 'w').close()\ndef f(): return 3",
		"import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(99)\ndef f(): return 4",
		"import os\ndef f():\n    while True: os.write(3, b'x' * 4096)",
	}
	play := func(from, to int) {
		for i := from; i < to; i++ {
			if i%10 == 9 {
				if _, err := p.Pytest(context.Background(), PytestJob{Files: Files{"test_a.py": []byte("def test_a(): assert 0")}}); err != nil {
					t.Fatal(err)
				}
				continue
			}
			call1(t, p, texts[i%len(texts)], Limits{})
		}
		eventually(t, "the pool is at rest", func() bool {
			s := p.Stats()
			return s.Ready["calls"] == 2 && s.Live["calls"] == 2 && s.Ready["pytest"] == 1 && s.Live["pytest"] == 1
		})
	}
	play(0, 20)
	first, begin := holds(), time.Now()
	t.Logf("%7s %8s %7s %7s %10s %8s %7s", "runs", "seconds", "files", "mounts", "processes", "groups", "RSS MiB")
	row := func(n int, h held) {
		t.Logf("%7d %8.0f %7d %7d %10d %8d %7.1f", n, time.Since(begin).Seconds(), h.fds, h.mounts, h.processes, h.groups, float64(h.rss)/(1<<20))
	}
	row(0, first)
	const parts = 10
	for k := range parts {
		play(*soakRuns*k/parts, *soakRuns*(k+1)/parts)
		h := holds()
		row(*soakRuns*(k+1)/parts, h)
		if h.fds > first.fds+2 || h.mounts != first.mounts || h.groups > first.groups+8 || h.processes > first.processes || h.rss > first.rss+(32<<20) {
			t.Fatal("something was left behind")
		}
	}
}
