package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Pool runs jobs in ready-made children. It is safe for concurrent use.
type Pool struct {
	plan plan
	log  *slog.Logger
	cg   *cgroups
	mode Mode

	calls, pytest *lane
	places        chan struct{} // a token for whoever has entered
	close         sync.Once
	interpreter   string
}

// New finds an interpreter, starts it, and returns once children are being
// made. Its error is ErrUnavailable, with what to change, where this machine
// refuses.
func New(ctx context.Context, cfg Config) (*Pool, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	py, err := findPython(ctx, cfg.Python)
	if err != nil {
		return nil, err
	}
	p := &Pool{log: log, mode: cfg.Mode, interpreter: py.Real}
	lim := cfg.Limits.orElse(DefaultLimits())
	p.plan = plan{py: py, cfg: cfg, limits: lim, log: log}
	if cfg.Mode == ModeNone {
		log.WarnContext(ctx, "UNSAFE: the sandbox is off; agent code runs with the server's own rights", "mode", string(ModeNone))
	} else {
		if p.plan.root, err = planRoot(py, cfg.Hide); err != nil {
			return nil, err
		}
		if p.plan.filter, err = seccompFilter(runtime.GOARCH); err != nil {
			return nil, err
		}
		p.mode = ModeNamespaces
		if p.cg, err = openCgroups(lim); err != nil {
			log.InfoContext(ctx, "no control groups: resource limits and tmpfs caps only", "err", err)
		} else if p.cg != nil {
			p.mode = map[int]Mode{1: ModeCgroup1, 2: ModeCgroup2}[p.cg.version]
		}
	}
	p.plan.mode = p.mode
	p.calls = newLane(p, kindCalls, cfg.CallChildren, 8*cfg.CallChildren)
	p.pytest = newLane(p, kindPytest, cfg.PytestChildren, 8*cfg.PytestChildren)
	want := min(p.calls.most/2, p.pytest.most)
	fit := placesThatFit(memoryOf("/"), want, lim)
	if fit < want {
		log.InfoContext(ctx, "memory bounds how many run code at a time", "runs", fit, "of", want, "memory", memoryOf("/"))
	}
	p.places = make(chan struct{}, fit)
	if err := p.start(); err != nil {
		p.closeCgroups()
		return nil, err
	}
	return p, nil
}

func (c *Config) validate() error {
	switch c.Mode {
	case "", ModeNone:
	default:
		return fmt.Errorf("sandbox: mode %q cannot be asked for", c.Mode)
	}
	if c.CallChildren == 0 {
		c.CallChildren = 4
	}
	if c.PytestChildren == 0 {
		c.PytestChildren = 2
	}
	if c.CallChildren < 0 || c.PytestChildren < 0 {
		return errors.New("sandbox: a pool needs children")
	}
	return nil
}

// start starts both interpreters at the same time.
func (p *Pool) start() error {
	lanes := []*lane{p.calls, p.pytest}
	zs, errs := make([]*zygote, len(lanes)), make([]error, len(lanes))
	var wg sync.WaitGroup
	for i, l := range lanes {
		wg.Go(func() { zs[i], errs[i] = startZygote(p.plan, l.kind) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		for _, z := range zs {
			if z != nil {
				z.stop()
			}
		}
		return advise(err)
	}
	for i, l := range lanes {
		l.z = zs[i]
		l.wg.Add(1)
		go l.run(zs[i])
	}
	return nil
}

// advise turns the kernel's refusal into what an operator can change.
func advise(err error) error {
	var se *startError
	if !errors.As(err, &se) || se.errno == 0 {
		return &InfraError{"start the interpreter", err}
	}
	var hint string
	switch se.errno {
	case syscall.EPERM, syscall.EACCES:
		hint = "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces>0, " +
			"kernel.apparmor_restrict_unprivileged_userns=0), or start the server as root; " +
			"inside a container its seccomp and AppArmor profiles must permit unshare, mount and pivot_root"
	case syscall.ENOSPC:
		hint = "raise sysctl user.max_user_namespaces and the other user.max_*_namespaces"
	case syscall.ENOSYS:
		hint = "use a Linux kernel 5.12 or later"
	default:
		hint = "run the server in a container or on a kernel that allows it"
	}
	return fmt.Errorf("%w: %w; %s", ErrUnavailable, err, hint)
}

// Enter waits until there is a place for one more who runs jobs, two at a time at
// most, and so hardly waits for a child then. A job's clock, the end of its
// context, runs while it waits for a child; before Enter returns there is none.
func (p *Pool) Enter(ctx context.Context) (leave func(), err error) {
	select {
	case p.places <- struct{}{}:
		return func() { <-p.places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Mode returns how children are confined.
func (p *Pool) Mode() Mode { return p.mode }

// Interpreter returns the real path of the interpreter.
func (p *Pool) Interpreter() string { return p.interpreter }

// Stats returns counts of this moment.
func (p *Pool) Stats() Stats {
	s := Stats{Ready: map[string]int{}, Live: map[string]int{}}
	p.calls.stats(&s)
	p.pytest.stats(&s)
	return s
}

// Close ends all children and interpreters and waits for them. Jobs under way
// fail with an error of ours.
func (p *Pool) Close() error {
	p.close.Do(func() {
		p.calls.close()
		p.pytest.close()
		p.closeCgroups()
	})
	return nil
}

func (p *Pool) closeCgroups() {
	if p.cg != nil {
		p.cg.close()
	}
}

// job runs f on a ready child, again on another if an interpreter was lost
// under it, and tells the observer.
func (p *Pool) job(ctx context.Context, l *lane, name string, f func(context.Context, *child) (Fault, Usage, error)) error {
	var err error
	ev := Event{Job: name, Mode: p.mode}
	for ; ev.Retries < 3; ev.Retries++ {
		asked := time.Now()
		var c *child
		if c, err = l.acquire(ctx); err != nil {
			break
		}
		ev.Queued += time.Since(asked)
		if p.mode == ModeNone {
			if c.dir, err = workDir(); err != nil {
				c.release()
				break
			}
		}
		c.patience.until, _ = ctx.Deadline()
		stop := context.AfterFunc(ctx, c.abort)
		ev.Fault, ev.Usage, err = f(ctx, c)
		stop()
		c.release()
		if !errors.Is(err, errLost) {
			break
		}
		p.log.WarnContext(ctx, "job lost its interpreter", "job", name)
	}
	if ctx.Err() != nil && (err != nil || ev.Fault != FaultNone) {
		err = ctx.Err() // what looks like a fault is the end that the caller asked for
	} else if err != nil && !errors.Is(err, ErrClosed) && !errors.Is(err, ErrInfra) {
		err = &InfraError{name, err}
	}
	ev.Infra = errors.Is(err, ErrInfra)
	if p.plan.cfg.Observe != nil {
		p.plan.cfg.Observe(ev)
	}
	return err
}

// abort ends a job whose caller has gone.
func (c *child) abort() {
	c.patience.gone.Store(true)
	c.kill()
	_ = c.job.SetDeadline(time.Unix(1, 0)) // fails only on a closed connection
}

// fault says why a child stopped answering, from the error of the last read
// and the way it ended. An error means that it was not the child's doing.
func (c *child) fault(readErr error, lim Limits) (Fault, string, error) {
	switch {
	case errors.Is(readErr, os.ErrDeadlineExceeded):
		return FaultWall, "no answer within its time", nil
	case errors.Is(readErr, errTooMuch):
		return FaultOutput, "answers larger than the limit", nil
	case errors.Is(readErr, errGarbled):
		return FaultProtocol, "wrote something that is not an answer", nil
	}
	// The connection ended. Whether the interpreter went first is known once
	// the child's end has been reported.
	c.kill()
	c.awaitEnd()
	if c.exit.lost {
		return "", "", errLost
	}
	if c.cg != nil {
		switch killed, own := c.cg.killedForMemory(); {
		case killed && own:
			return FaultMemory, "killed for its memory", nil
		case killed:
			return "", "", errors.New("the machine ran out of memory under a run that kept to its limit")
		}
	}
	st := c.exit.status
	switch {
	case st.Signaled() && (st.Signal() == syscall.SIGXCPU || c.exit.cpu >= lim.CPU-100*time.Millisecond):
		return FaultCPU, fmt.Sprintf("used more than %s of CPU", lim.CPU), nil
	case st.Signaled():
		return FaultCrash, "the process was ended by a signal", nil
	}
	return FaultCrash, "the process ended before it answered", nil
}

// Spare reports whether two children for calls wait and nobody waits for one.
func (p *Pool) Spare() bool { return p.calls.idle(2) }
