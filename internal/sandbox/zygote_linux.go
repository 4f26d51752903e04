package sandbox

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// startTimeout bounds the start of a warm interpreter and of one child.
const startTimeout = 40 * time.Second

// kind of children that an interpreter makes.
type kind string

const (
	kindCalls  kind = "calls"
	kindPytest kind = "pytest"
)

// zygote is one warm interpreter. It forks children on request and reports
// their ends. All its children die with it, and it dies with this process.
type zygote struct {
	kind     kind
	cmd      *exec.Cmd
	ctl      *net.UnixConn
	log      *slog.Logger
	confined bool // and so behind a process that only waits for it

	dead chan struct{} // closed when nothing will be heard of it again
	wg   sync.WaitGroup

	mu       sync.Mutex
	err      error
	next     uint64
	pending  map[uint64]chan forked
	children map[uint64]*child
}

type forked struct {
	pidfd int
	err   error
}

// plan is what every interpreter of a pool is started with.
type plan struct {
	py     python
	root   layout
	cfg    Config
	limits Limits
	mode   Mode
	filter []byte
	log    *slog.Logger
}

// startError is a refusal that the interpreter itself reported.
type startError struct {
	text  string
	errno syscall.Errno
}

func (e *startError) Error() string { return e.text }

// startZygote starts a warm interpreter and waits until it can fork.
func startZygote(p plan, k kind) (*zygote, error) {
	text, err := program()
	if err != nil {
		return nil, err
	}
	ctl, theirs, err := socketPair(unix.SOCK_SEQPACKET, "control")
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	r, w, err := os.Pipe()
	if err != nil {
		ctl.Close()
		return nil, err
	}
	defer r.Close()

	z := &zygote{
		kind: k, ctl: ctl, log: p.log, confined: p.mode.Safe(), dead: make(chan struct{}),
		pending: map[uint64]chan forked{}, children: map[uint64]*child{},
	}
	z.cmd = exec.Command(p.py.Executable, "-s", "-B", "-c", "exec(open(4).read())") //nolint:noctx // lives as long as the pool, which ends it
	z.cmd.Dir = "/"
	z.cmd.Env = []string{"PYTHONHASHSEED=0", "LANG=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE=1"}
	z.cmd.ExtraFiles = []*os.File{theirs, r}
	stderr := &tail{max: 4096}
	z.cmd.Stderr = stderr
	z.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	z.cmd.WaitDelay = time.Second

	started := make(chan error, 1)
	z.wg.Add(3)
	go z.own(started)
	go func() {
		defer z.wg.Done()
		defer w.Close()
		_, _ = io.WriteString(w, text) // a failure shows as a failed start
	}()
	if err := <-started; err != nil {
		r.Close()
		z.wg.Done() // no listener
		ctl.Close()
		z.wg.Wait()
		return nil, fmt.Errorf("start %s: %w", p.py.Executable, err)
	}
	err = z.handshake(p)
	go z.listen()
	if err != nil {
		z.stop()
		if s := strings.TrimSpace(stderr.String()); s != "" {
			err = fmt.Errorf("%w (%s)", err, printable(s, 500))
		}
		return nil, err
	}
	return z, nil
}

// own starts the process and waits for it on one thread that lives as long:
// the kernel sends the death signal when the starting thread ends.
func (z *zygote) own(started chan<- error) {
	defer z.wg.Done()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := z.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	err = z.cmd.Wait()
	z.log.Debug("interpreter ended", "kind", z.kind, "err", err)
	z.ctl.Close()
}

func (z *zygote) handshake(p plan) error {
	if err := z.ctl.SetDeadline(time.Now().Add(startTimeout)); err != nil {
		return err
	}
	uid, gid := os.Geteuid(), os.Getegid()
	root := uid == 0
	if root {
		uid, gid = 65534, 65534
	}
	warm := warmCalls
	if z.kind == kindPytest {
		warm = warmPytest
	}
	cfg := map[string]any{
		"kind": z.kind, "server": os.Getpid(), "confine": p.mode.Safe(), "root": root, "uid": uid, "gid": gid,
		"binds": p.root.binds, "links": p.root.links, "hide": p.root.hide, "pivot_root": unix.SYS_PIVOT_ROOT,
		"filter": base64.StdEncoding.EncodeToString(p.filter), "landlock": true,
		"limits": p.limits.wire(), "prefault": !p.cfg.NoPrefault, "warm": warm,
	}
	if err := z.send(cfg); err != nil {
		return fmt.Errorf("configure the interpreter: %w", err)
	}
	for {
		m, fds, err := z.receive()
		closeAll(fds)
		switch {
		case err != nil:
			return fmt.Errorf("hear from the interpreter: %w", err)
		case m.Failed != "":
			return &startError{m.Failed, syscall.Errno(m.Errno)}
		case m.Map:
			reply := map[string]string{}
			if err := writeMaps(z.cmd.Process.Pid, uid, gid); err != nil {
				reply["error"] = err.Error()
			}
			if err := z.send(reply); err != nil {
				return fmt.Errorf("answer the interpreter: %w", err)
			}
		case m.Up:
			return z.ctl.SetDeadline(time.Time{})
		}
	}
}

// writeMaps makes one user of ours the root of the process's new user
// namespace.
func writeMaps(pid, uid, gid int) error {
	dir := fmt.Sprintf("/proc/%d/", pid)
	for _, f := range []struct{ name, text string }{
		{"setgroups", "deny"},
		{"uid_map", fmt.Sprintf("0 %d 1\n", uid)},
		{"gid_map", fmt.Sprintf("0 %d 1\n", gid)},
	} {
		if err := os.WriteFile(dir+f.name, []byte(f.text), 0); err != nil {
			return err
		}
	}
	return nil
}

// listen routes what the interpreter says until it is gone.
func (z *zygote) listen() {
	defer z.wg.Done()
	var err error
	for err == nil {
		var m message
		var fds []int
		if m, fds, err = z.receive(); err != nil {
			break
		}
		z.mu.Lock()
		switch {
		case m.Forked != 0 && len(fds) == 1:
			if ch := z.pending[m.Forked]; ch != nil {
				delete(z.pending, m.Forked)
				ch <- forked{pidfd: fds[0]}
				fds = nil
			}
		case m.NoFork != 0:
			if ch := z.pending[m.NoFork]; ch != nil {
				delete(z.pending, m.NoFork)
				ch <- forked{err: errors.New(m.Error)}
			}
		case m.Exit != 0:
			if c := z.children[m.Exit]; c != nil {
				delete(z.children, m.Exit)
				c.end(exit{
					status: syscall.WaitStatus(m.Status), cpu: time.Duration(m.CPU * float64(time.Second)),
					rss: m.RSS << 10, faults: m.Faults,
				})
			}
		}
		z.mu.Unlock()
		closeAll(fds)
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	z.err = err
	close(z.dead)
	for id, ch := range z.pending {
		delete(z.pending, id)
		ch <- forked{err: errLost}
	}
	for id, c := range z.children {
		delete(z.children, id)
		c.end(exit{lost: true})
	}
}

// alive reports whether the interpreter can still be asked.
func (z *zygote) alive() bool {
	select {
	case <-z.dead:
		return false
	default:
		return true
	}
}

// stop ends the interpreter and its children and waits for them.
func (z *zygote) stop() {
	if z.cmd.Process != nil {
		z.cmd.Process.Kill() // it may be gone already
	}
	z.ctl.Close()
	z.wg.Wait()
}
