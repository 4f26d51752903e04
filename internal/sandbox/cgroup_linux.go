package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// cgroups makes one control group per child: version 2 where the server's own
// group has been delegated to it, version 1 where the server is root. Slots
// are used again, since making a group costs more than clearing one.
type cgroups struct {
	version int
	parents []string // version 2: one; version 1: memory and pids
	limits  Limits

	mu   sync.Mutex
	idle []*slot
	made int
}

// slot is the control group of one child at a time.
type slot struct {
	g     *cgroups
	dirs  []string
	procs []*os.File
	kills int64 // processes killed for memory before the present child
	hits  int64 // times that the group's own limit was met before it
}

// openCgroups finds out by doing whether children can have control groups. A
// nil result without error means that this machine gives none.
func openCgroups(lim Limits) (*cgroups, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, nil //nolint:nilerr // no control groups at all
	}
	paths := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(own)), "\n") {
		part := strings.SplitN(line, ":", 3)
		if len(part) == 3 {
			for _, c := range strings.Split(part[1], ",") {
				paths[c] = part[2]
			}
		}
	}
	var why []error
	for _, try := range []func(map[string]string, Limits) (*cgroups, error){openCgroup2, openCgroup1} {
		g, err := try(paths, lim)
		if err != nil {
			why = append(why, err)
			continue
		}
		g.sweep()
		s, err := g.take()
		if err != nil {
			g.close()
			why = append(why, err)
			continue
		}
		s.free()
		return g, nil
	}
	return nil, errors.Join(why...)
}

// sweep removes the groups of servers that were killed.
func (g *cgroups) sweep() {
	for _, p := range g.parents {
		left, err := filepath.Glob(filepath.Join(p, "proctor-*-*"))
		if err != nil {
			continue // the pattern is constant
		}
		for _, dir := range left {
			pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), "proctor-"), "-")
			if n, err := strconv.Atoi(pid); err == nil && unix.Kill(n, 0) == unix.ESRCH {
				_ = unix.Rmdir(dir) // refused while it holds a process
			}
		}
	}
}

func openCgroup2(paths map[string]string, lim Limits) (*cgroups, error) {
	base := filepath.Join("/sys/fs/cgroup", paths[""])
	have, err := os.ReadFile(filepath.Join(base, "cgroup.controllers"))
	if err != nil {
		return nil, fmt.Errorf("cgroup 2: %w", err)
	}
	for _, c := range []string{"memory", "pids"} {
		if !strings.Contains(" "+strings.TrimSpace(string(have))+" ", " "+c+" ") {
			return nil, fmt.Errorf("cgroup 2: controller %s is not delegated to %s", c, base)
		}
	}
	enable := func() error {
		return os.WriteFile(filepath.Join(base, "cgroup.subtree_control"), []byte("+memory +pids"), 0)
	}
	if err := enable(); errors.Is(err, unix.EBUSY) {
		// A group with processes cannot hand out controllers: step aside, if
		// the group is ours alone.
		procs, err := os.ReadFile(filepath.Join(base, "cgroup.procs"))
		if err != nil || strings.TrimSpace(string(procs)) != strconv.Itoa(os.Getpid()) {
			return nil, fmt.Errorf("cgroup 2: %s holds other processes", base)
		}
		leaf := filepath.Join(base, "server")
		if err := os.Mkdir(leaf, 0o755); err != nil && !os.IsExist(err) {
			return nil, fmt.Errorf("cgroup 2: %w", err)
		}
		if err := os.WriteFile(filepath.Join(leaf, "cgroup.procs"), []byte("0"), 0); err != nil {
			return nil, fmt.Errorf("cgroup 2: %w", err)
		}
		if err := enable(); err != nil {
			return nil, fmt.Errorf("cgroup 2: %w", err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("cgroup 2: %w", err)
	}
	return &cgroups{version: 2, parents: []string{base}, limits: lim}, nil
}

func openCgroup1(paths map[string]string, lim Limits) (*cgroups, error) {
	g := &cgroups{version: 1, limits: lim}
	for _, c := range []string{"memory", "pids"} {
		path, ok := paths[c]
		if !ok {
			return nil, fmt.Errorf("cgroup 1: no controller %s", c)
		}
		dir := filepath.Join("/sys/fs/cgroup", c, path)
		if _, err := os.Stat(dir); err != nil { // a container sees its own part as the root
			dir = filepath.Join("/sys/fs/cgroup", c)
		}
		g.parents = append(g.parents, dir)
	}
	return g, nil
}

// take returns a group with its limits set and no process in it.
func (g *cgroups) take() (*slot, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.idle); n > 0 {
		s := g.idle[n-1]
		g.idle = g.idle[:n-1]
		s.forget()
		s.kills, s.hits = s.oomKills(), s.limitHits()
		return s, nil
	}
	g.made++
	s := &slot{g: g}
	for _, p := range g.parents {
		dir := filepath.Join(p, fmt.Sprintf("proctor-%d-%d", os.Getpid(), g.made))
		if err := os.Mkdir(dir, 0o755); err != nil {
			s.remove()
			return nil, fmt.Errorf("make control group: %w", err)
		}
		s.dirs = append(s.dirs, dir)
	}
	if err := s.limit(g.limits); err != nil {
		s.remove()
		return nil, err
	}
	for _, d := range s.dirs {
		f, err := os.OpenFile(filepath.Join(d, "cgroup.procs"), os.O_WRONLY, 0)
		if err != nil {
			s.remove()
			return nil, fmt.Errorf("open control group: %w", err)
		}
		s.procs = append(s.procs, f)
	}
	return s, nil
}

func (s *slot) limit(lim Limits) error {
	mem := strconv.FormatInt(lim.MemoryBytes+lim.DiskBytes, 10)
	pids := strconv.Itoa(lim.Pids)
	type set struct {
		dir, name, value string
		must             bool
	}
	var sets []set
	if s.g.version == 2 {
		sets = []set{{s.dirs[0], "memory.max", mem, true}, {s.dirs[0], "memory.swap.max", "0", false}, {s.dirs[0], "pids.max", pids, true}}
	} else {
		sets = []set{{s.dirs[0], "memory.limit_in_bytes", mem, true}, {s.dirs[0], "memory.memsw.limit_in_bytes", mem, false}, {s.dirs[1], "pids.max", pids, true}}
	}
	for _, x := range sets {
		err := os.WriteFile(filepath.Join(x.dir, x.name), []byte(x.value), 0)
		if err != nil && x.must {
			return fmt.Errorf("limit control group: %w", err)
		}
	}
	return nil
}

func (s *slot) fds() []int {
	var fds []int
	for _, f := range s.procs {
		fds = append(fds, int(f.Fd()))
	}
	return fds
}

// oomKills reads how many processes of the group were killed for memory.
func (s *slot) oomKills() int64 {
	if s.g.version == 1 {
		return s.count("memory.oom_control", "oom_kill")
	}
	return s.count("memory.events", "oom_kill")
}

// limitHits reads how often the group's own limit was met. Version 1 has two,
// of memory with swap and without, and kernels of late no longer count there:
// the most that was used, which is set back for every child, tells then.
func (s *slot) limitHits() int64 {
	if s.g.version == 2 {
		return s.count("memory.events", "max")
	}
	n := s.count("memory.failcnt", "") + s.count("memory.memsw.failcnt", "")
	most := max(s.count("memory.max_usage_in_bytes", ""), s.count("memory.memsw.max_usage_in_bytes", ""))
	if most > s.g.limits.MemoryBytes+s.g.limits.DiskBytes-nearLimit {
		n++
	}
	return n
}

// nearLimit is what may be left below a limit when a process is killed for it:
// the largest piece that the kernel does not do without.
const nearLimit = 256 << 10

// forget sets the most that was used back.
func (s *slot) forget() {
	if s.g.version != 1 {
		return
	}
	for _, f := range []string{"memory.max_usage_in_bytes", "memory.memsw.max_usage_in_bytes"} {
		_ = os.WriteFile(filepath.Join(s.dirs[0], f), []byte("0"), 0) // the second is not everywhere
	}
}

// count reads a number of a file of the memory controller: the one with a
// name, or the only one.
func (s *slot) count(file, name string) int64 {
	text, err := os.ReadFile(filepath.Join(s.dirs[0], file))
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(text), "\n") {
		f := strings.Fields(line)
		if len(f) == 2 && f[0] == name || len(f) == 1 && name == "" {
			if n, err := strconv.ParseInt(f[len(f)-1], 10, 64); err == nil {
				return n
			}
		}
	}
	return 0
}

// killedForMemory reports whether a process of the present child was killed
// for memory, and whether the child had met its own limit. If it had not, the
// machine or the server's own group was short of memory.
func (s *slot) killedForMemory() (killed, own bool) {
	return s.oomKills() > s.kills, s.limitHits() > s.hits
}

// free gives the group back once its child is gone.
func (s *slot) free() {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	s.g.idle = append(s.g.idle, s)
}

func (s *slot) remove() {
	for _, f := range s.procs {
		f.Close()
	}
	for _, d := range s.dirs {
		// The kernel may need a moment after the last process.
		for i := 0; i < 50 && unix.Rmdir(d) == unix.EBUSY; i++ {
			<-time.After(2 * time.Millisecond)
		}
	}
}

// close removes every idle group.
func (g *cgroups) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.idle {
		s.remove()
	}
	g.idle = nil
}
