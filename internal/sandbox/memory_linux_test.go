package sandbox

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestMemoryOf reads the bounds of machines and control groups.
func TestMemoryOf(t *testing.T) {
	const mem = "MemTotal:       4194304 kB\nMemFree:  1 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing to read": {nil, math.MaxInt64},
		"machine":         {map[string]string{"proc/meminfo": mem, "proc/self/cgroup": "0::/\n"}, 4 << 30},
		"version 2, a group above": {map[string]string{
			"proc/meminfo": mem, "proc/self/cgroup": "0::/a/b/server\n",
			"sys/fs/cgroup/a/memory.max": "1073741824\n", "sys/fs/cgroup/a/b/memory.max": "max\n",
		}, 1 << 30},
		"version 1": {map[string]string{
			"proc/meminfo": mem, "proc/self/cgroup": "5:cpu,memory:/pod\n4:pids:/other\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":     "9223372036854771712\n",
			"sys/fs/cgroup/memory/pod/memory.limit_in_bytes": "2147483648\n",
		}, 2 << 30},
		"version 1, a container sees its own part as the root": {map[string]string{
			"proc/meminfo": mem, "proc/self/cgroup": "5:memory:/docker/x\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "536870912\n",
		}, 512 << 20},
		"more than the machine has": {map[string]string{
			"proc/meminfo": mem, "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "99999999999999\n",
		}, 4 << 30},
	} {
		root := t.TempDir()
		for path, text := range c.files {
			if err := os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := memoryOf(root); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
	if got := memoryOf("/"); got < 64<<20 || got == math.MaxInt64 {
		t.Errorf("this machine has %d bytes", got)
	}
}

// TestRunsFitIntoMemory checks that the runs of all places together, each to
// its limit, leave room for the server.
func TestRunsFitIntoMemory(t *testing.T) {
	lim := DefaultLimits()
	each := 2 * (lim.MemoryBytes + lim.DiskBytes)
	for _, memory := range []int64{0, 1 << 28, 1 << 30, 2 << 30, 4 << 30, 16 << 30, math.MaxInt64} {
		n := placesThatFit(memory, 16, lim)
		if n < 1 || n > 16 {
			t.Errorf("%d bytes: %d places", memory, n)
		}
		if n > 1 && int64(n)*each > memory-min(memory/4, 1<<30) {
			t.Errorf("%d bytes: the runs of %d places do not fit", memory, n)
		}
		if n < 16 && int64(n+1)*each <= memory-min(memory/4, 1<<30) {
			t.Errorf("%d bytes: more than %d places fit", memory, n)
		}
	}
}
