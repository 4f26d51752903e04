package sandbox

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Every run has a limit of memory. If those that run at the same time could
// together have more than there is, the kernel would end one that kept to its
// limit: a fault of ours, which agents could bring about for each other. So as
// many run at a time as fit.

// placesThatFit is how many of want may run jobs, two at a time each, in memory
// bytes; one always may. A quarter of the memory, 1 GiB at most, is kept for the
// server and for children that wait.
func placesThatFit(memory int64, want int, lim Limits) int {
	left := memory - min(memory/4, 1<<30)
	return int(max(1, min(int64(want), left/(2*(lim.MemoryBytes+lim.DiskBytes)))))
}

// memoryOf is the memory, in bytes, that this process and its children can
// have: the machine's, or less where a control group bounds it. root is "/" but
// in tests. What cannot be read bounds nothing.
func memoryOf(root string) int64 {
	bound := int64(math.MaxInt64)
	for _, line := range lines(filepath.Join(root, "proc/meminfo")) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "MemTotal:" {
			if kb, err := strconv.ParseInt(f[1], 10, 64); err == nil {
				bound = kb << 10
			}
		}
	}
	groups := filepath.Join(root, "sys/fs/cgroup")
	for _, line := range lines(filepath.Join(root, "proc/self/cgroup")) {
		part := strings.SplitN(line, ":", 3)
		if len(part) != 3 {
			continue
		}
		base, file := filepath.Join(groups, "memory"), "memory.limit_in_bytes"
		switch {
		case part[1] == "":
			base, file = groups, "memory.max"
		case !strings.Contains(","+part[1]+",", ",memory,"):
			continue
		}
		for dir := filepath.Clean("/" + part[2]); ; dir = filepath.Dir(dir) {
			for _, text := range lines(filepath.Join(base, dir, file)) {
				if n, err := strconv.ParseInt(text, 10, 64); err == nil { // else "max"
					bound = min(bound, n)
				}
			}
			if dir == "/" {
				break
			}
		}
	}
	return bound
}

// lines are those of a small file, none if it cannot be read.
func lines(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}
