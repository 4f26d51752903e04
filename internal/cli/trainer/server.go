package trainer

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/proctor-rl/proctor/client"
	"github.com/proctor-rl/proctor/trainer/rollout"
)

// startTimeout bounds how long a server may take to be ready. One that ends
// instead is noticed at once, so that there is no harm in patience with a
// machine that is busy.
const startTimeout = 3 * time.Minute

// outputDelay bounds how long the output of a program that has ended is waited
// for: a process that it left behind may hold it open.
const outputDelay = 2 * time.Second

// serverProcess is a server that this program started.
type serverProcess struct {
	url string
	cmd *exec.Cmd
}

// startServer runs "proctor serve" on a free loopback port and waits until it
// says that it is ready.
func startServer(ctx context.Context, program string, stderr io.Writer, extra ...string) (*serverProcess, error) {
	args := append([]string{"serve", "--listen", "127.0.0.1:0"}, extra...)
	cmd := exec.Command(program, args...) //nolint:noctx // ended by stop, which lets it drain
	cmd.Stderr, cmd.WaitDelay = stderr, outputDelay
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	s := &serverProcess{cmd: cmd}
	ready := make(chan string, 1)
	go func() { // ends with the pipe, which ends with the process that stop waits for
		scan := bufio.NewScanner(out)
		for scan.Scan() {
			if url, ok := strings.CutPrefix(scan.Text(), "listening "); ok {
				select {
				case ready <- url:
				default:
				}
			}
		}
		close(ready)
	}()
	timer := time.NewTimer(startTimeout)
	defer timer.Stop()
	select {
	case url, ok := <-ready:
		if !ok || url == "" {
			return nil, errors.Join(errors.New("start server: it ended before it was ready"), s.stop())
		}
		s.url = url
		return s, nil
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), s.stop())
	case <-timer.C:
		return nil, errors.Join(fmt.Errorf("start server: not ready after %s", startTimeout), s.stop())
	}
}

// stop lets the server drain and waits for its end.
func (s *serverProcess) stop() error {
	if s == nil || s.cmd.Process == nil {
		return nil
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop server: %w", err)
	}
	done := make(chan struct{})
	go func() { // awaited below in every case
		_ = s.cmd.Wait() // how it ended is of no interest any more
		close(done)
	}()
	timer := time.NewTimer(15 * time.Second)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		err := s.cmd.Process.Kill()
		<-done
		if err != nil {
			return fmt.Errorf("stop server: %w", err)
		}
	}
	return nil
}

// writeDemos has the proctor program write demonstrations.
func writeDemos(ctx context.Context, program, env, split string, n int, noise float64, seed uint64, out string, stderr io.Writer) error {
	cmd := exec.CommandContext(ctx, program, "demos", "--env", env, "--split", split, "--n", strconv.Itoa(n),
		"--noise", strconv.FormatFloat(noise, 'g', -1, 64), "--seed", strconv.FormatUint(seed, 10), "--out", out)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stderr, stderr, outputDelay
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("write demonstrations: %w", err)
	}
	return nil
}

// connection is where the server is and how to get in.
type connection struct {
	server  string
	program string
	token   string

	serveArgs []string // further arguments of a server that is started
}

// register adds the flags of commands that start a server where none is named.
func (c *connection) register(f *flag.FlagSet) {
	f.StringVar(&c.server, "server", "", "address of a running server")
	f.StringVar(&c.program, "proctor", "bin/proctor", "proctor program to start a server with, where --server is not given")
	f.StringVar(&c.token, "token", os.Getenv("PROCTOR_TOKEN"), "bearer token of the server (default $PROCTOR_TOKEN)")
}

// check refuses flags of a connection that do nothing.
func (c *connection) check(f *flag.FlagSet) error {
	if c.server == "" {
		return idle(f, "without --server", "token")
	}
	return idle(f, "with --server", "proctor")
}

// dialer dials the server's WebSocket.
func (c connection) dialer() func(context.Context) (rollout.Conn, error) {
	return func(ctx context.Context) (rollout.Conn, error) {
		conn, err := client.Dial(ctx, c.server, client.Options{Token: c.token})
		if err != nil {
			return nil, err
		}
		return conn, nil
	}
}

// open makes sure that there is a server: the named one, or one of our own. The
// returned function ends what was started.
func (c *connection) open(ctx context.Context, stderr io.Writer) (*client.Client, func() error, error) {
	stop := func() error { return nil }
	if c.server == "" {
		if c.program == "" {
			return nil, nil, usage("name a server with --server URL, or the proctor program with --proctor PATH")
		}
		s, err := startServer(ctx, c.program, stderr, c.serveArgs...)
		if err != nil {
			return nil, nil, err
		}
		c.server, stop = s.url, s.stop
	}
	api, err := client.New(c.server, client.Options{Token: c.token})
	if err != nil {
		return nil, nil, errors.Join(usageError{err}, stop())
	}
	return api, func() error { api.Close(); return stop() }, nil
}
