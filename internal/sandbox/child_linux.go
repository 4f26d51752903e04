package sandbox

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

// errLost means that the warm interpreter went away under a job; the job can
// be run again on another.
var errLost = errors.New("the warm interpreter was lost")

// maxFrame bounds one message of a child.
const maxFrame = 4 << 20

// maxArrays bounds the arrays in all messages of a child. Each takes a hundred
// times as much memory here as there, and a value that is sent as it should be
// has fewer than 400,000.
const maxArrays = 600_000

// child is one single-use process, pid 1 of its own pid namespace.
type child struct {
	id    uint64
	z     *zygote
	pidfd int
	job   *net.UnixConn
	in    *bufio.Reader
	read  int64 // bytes of answers so far
	lists int   // arrays in them
	out   *os.File
	cg    *slot
	dir   string // of ModeNone only

	patience patience

	exited chan struct{}
	exit   exit
	once   sync.Once
}

type exit struct {
	status syscall.WaitStatus
	cpu    time.Duration
	rss    int64
	faults int64
	lost   bool // with its interpreter; nothing else is known
}

// fork asks for a child and waits until it is locked down and ready, its
// memory touched beforehand if prefault is set.
func (z *zygote) fork(cg *slot, prefault bool, inject string) (*child, error) {
	job, theirs, err := socketPair(unix.SOCK_STREAM, "job")
	if err != nil {
		return nil, err
	}
	given := []*os.File{theirs} // the child's ends
	defer func() { closeFiles(given) }()
	fds := []int{int(theirs.Fd())}
	c := &child{z: z, pidfd: -1, job: job, exited: make(chan struct{})}
	c.in = bufio.NewReaderSize(patient{c}, 32<<10)
	if z.kind == kindPytest {
		r, w, err := os.Pipe()
		if err != nil {
			job.Close()
			return nil, err
		}
		given = append(given, w)
		c.out = r
		fds = append(fds, int(w.Fd()))
	}
	if cg != nil {
		fds = append(fds, cg.fds()...)
	}
	answer := make(chan forked, 1)
	z.mu.Lock()
	if !z.alive() {
		z.mu.Unlock()
		c.closeFiles()
		return nil, errLost
	}
	z.next++
	c.id = z.next
	z.pending[c.id] = answer
	z.children[c.id] = c
	z.mu.Unlock()

	err = z.send(map[string]any{"fork": c.id, "prefault": prefault, "inject": inject}, fds...)
	// With our copies open, the end of a child that dies before it is ready
	// would never show on its socket.
	closeFiles(given)
	given = nil
	if err != nil {
		z.forget(c.id)
		c.closeFiles()
		if gone(err) {
			err = errLost
		}
		return nil, fmt.Errorf("ask for a child: %w", err)
	}
	f := watch(z, answer) // listen answers every pending request, at the latest when the interpreter dies
	if f.err != nil {
		z.forget(c.id)
		c.closeFiles()
		return nil, fmt.Errorf("fork: %w", f.err)
	}
	c.pidfd = f.pidfd
	c.expendable()
	var ready reply
	_ = c.job.SetDeadline(time.Now().Add(startTimeout)) // a failure shows in the read
	err = c.get(&ready)
	if err == nil && !ready.Ready {
		err = fmt.Errorf("prepare: %s", printable(ready.Setup, 300))
	}
	if err != nil {
		c.release()
		if c.exit.lost {
			err = errLost
		}
		return nil, err
	}
	c.read, c.cg = 0, cg
	return c, nil
}

// gone says that err comes of a connection whose other side, or our own, is
// closed.
func gone(err error) bool {
	return errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

func (z *zygote) forget(id uint64) {
	z.mu.Lock()
	defer z.mu.Unlock()
	delete(z.pending, id)
	delete(z.children, id)
}

// end records the child's end. The listener calls it once.
func (c *child) end(e exit) {
	c.exit = e
	close(c.exited)
}

// ended reports whether the child is gone.
func (c *child) ended() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// kill ends the child's whole pid namespace.
func (c *child) kill() {
	if c.pidfd >= 0 {
		_ = unix.PidfdSendSignal(c.pidfd, unix.SIGKILL, nil, 0) // ESRCH: already gone
	}
}

func (c *child) closeFiles() {
	c.job.Close()
	if c.out != nil {
		c.out.Close()
	}
}

// release kills the child, waits for the end of its tree and frees what
// belongs to it. The wait is short: nothing in a killed namespace runs on.
func (c *child) release() {
	c.once.Do(func() {
		c.kill()
		c.awaitEnd()
		unix.Close(c.pidfd)
		c.closeFiles()
		if c.cg != nil {
			c.cg.free()
		}
		if c.dir != "" {
			os.RemoveAll(c.dir) // a leftover of the unsafe mode; nothing depends on it
		}
	})
}

// reply is everything a child says; which fields count depends on what it was
// asked.
type reply struct {
	Ready    bool             `json:"ready"`
	Setup    string           `json:"setup"`    // counts before Prepared only
	Prepared bool             `json:"prepared"` // the workspace is laid out
	Loaded   *bool            `json:"loaded"`
	Detail   string           `json:"detail"`
	Raised   [][]any          `json:"raised"`
	Text     *string          `json:"text"` // of what was raised, for trusted tests
	Own      [][2]pyval.Value `json:"own"`  // its attributes, likewise
	ID       string           `json:"id"`
	Value    json.RawMessage  `json:"value"`
	Args     json.RawMessage  `json:"args"`
	Kwargs   json.RawMessage  `json:"kwargs"`

	Test    string `json:"test"`
	Outcome string `json:"outcome"`
	Message string `json:"message"`
	End     *int   `json:"end"`

	Call json.RawMessage `json:"call"`
}

// errTooMuch means that the child said more than it may.
var errTooMuch = errors.New("too much was written")

// errGarbled means that what the child said is not a message.
var errGarbled = errors.New("not a message")

// get reads one message.
func (c *child) get(r *reply) error {
	var head [4]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return errTooMuch
	}
	c.read += int64(n)
	body := make([]byte, n)
	if _, err := io.ReadFull(c.in, body); err != nil {
		return err
	}
	if c.lists += arrays(body); c.lists > maxArrays {
		return errTooMuch
	}
	*r = reply{}
	if err := json.Unmarshal(body, r); err != nil {
		return fmt.Errorf("%w: %w", errGarbled, err)
	}
	return nil
}

// arrays counts the arrays in a JSON text.
func arrays(text []byte) (n int) {
	in := false // a string
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '"':
			in = !in
		case in && b == '\\':
			i++
		case !in && b == '[':
			n++
		}
	}
	return n
}

// put sends one message.
func (c *child) put(msg any) error {
	data, err := json.Marshal(msg)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	_, err = patient{c}.Write(append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(data)), uint32(len(data))), data...))
	return err
}

// usage is what is known after the end.
func (c *child) usage(wall time.Duration) Usage {
	return Usage{Wall: wall, CPU: c.exit.cpu, MaxRSSBytes: c.exit.rss, MinorFaults: c.exit.faults}
}
