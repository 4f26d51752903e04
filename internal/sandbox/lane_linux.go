package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// lane keeps children of one kind ready. One goroutine owns its interpreter
// and does all the forking.
type lane struct {
	p    *Pool
	kind kind
	want int // children ready or at work in a quiet lane
	most int // at work at the same time, at the most

	ready chan *child
	fails chan error    // to whoever waits, when a child cannot be made
	wake  chan struct{} // something ended or somebody waits
	done  chan struct{}
	wg    sync.WaitGroup

	mu      sync.Mutex
	live    int // forked and not ended
	waiting int
	z       *zygote
	inject  string // tests: make the next forks fail on our side
}

func newLane(p *Pool, k kind, want, most int) *lane {
	l := &lane{
		p: p, kind: k, want: want, most: most,
		ready: make(chan *child, most), fails: make(chan error), wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	return l
}

// run supervises: it starts an interpreter when there is none and a child
// when one is missing, until the lane is closed.
func (l *lane) run(first *zygote) {
	defer l.wg.Done()
	z := first
	pause := 20 * time.Millisecond
	for {
		select {
		case <-l.done:
			if z != nil {
				z.stop()
			}
			return
		default:
		}
		if z == nil || !z.alive() {
			var err error
			if z != nil {
				l.p.log.Warn("warm interpreter lost, starting another", "kind", string(l.kind))
				z.stop()
			}
			if z, err = startZygote(l.p.plan, l.kind); err != nil {
				l.p.log.Error("could not start a warm interpreter", "kind", string(l.kind), "err", err)
				z = nil
				l.tell(err)
				pause = l.backOff(pause)
				continue
			}
			l.mu.Lock()
			l.z = z
			l.mu.Unlock()
		}
		if !l.missing() {
			select {
			case <-l.wake:
			case <-z.dead:
			case <-l.done:
			}
			continue
		}
		if err := l.add(z); err != nil {
			if !errors.Is(err, errLost) {
				l.p.log.Error("could not make a child", "kind", string(l.kind), "err", err)
				l.tell(err)
			}
			pause = l.backOff(pause)
			continue
		}
		pause = 20 * time.Millisecond
	}
}

// missing reports whether another child should be made now.
func (l *lane) missing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.live < l.want || l.waiting > len(l.ready) && l.live < l.most
}

func (l *lane) add(z *zygote) error {
	var cg *slot
	if l.p.cg != nil {
		var err error
		if cg, err = l.p.cg.take(); err != nil {
			return err
		}
	}
	l.mu.Lock()
	l.live++
	inject := l.inject
	// While somebody waits, touching the memory would only make the wait
	// longer: it pays when there is time to spare.
	prefault := l.waiting == 0
	l.mu.Unlock()
	c, err := z.fork(cg, prefault, inject)
	if err != nil {
		if cg != nil {
			cg.free()
		}
		l.ended()
		return err
	}
	l.wg.Add(1)
	go func() {
		defer l.wg.Done()
		<-c.exited
		l.ended()
	}()
	l.ready <- c // has room for every child there can be
	return nil
}

// ended is called at the end of every child.
func (l *lane) ended() {
	l.mu.Lock()
	l.live--
	l.mu.Unlock()
	l.poke()
}

func (l *lane) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// tell gives an error of ours to everybody who waits for a child.
func (l *lane) tell(err error) {
	for {
		select {
		case l.fails <- err:
		default:
			return
		}
	}
}

func (l *lane) backOff(d time.Duration) time.Duration {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-l.done:
	}
	return min(2*d, 2*time.Second)
}

// acquire returns a ready child. Its error is the context's, ErrClosed, or
// one of ours.
func (l *lane) acquire(ctx context.Context) (*child, error) {
	l.mu.Lock()
	l.waiting++
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.waiting--
		l.mu.Unlock()
	}()
	for {
		l.poke()
		select {
		case c := <-l.ready:
			if c.ended() {
				c.release()
				continue
			}
			return c, nil
		case err := <-l.fails:
			return nil, &InfraError{"make a child", err}
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.done:
			return nil, ErrClosed
		}
	}
}

// idle reports whether n children wait and nobody waits for one.
func (l *lane) idle(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.ready) >= n && l.waiting == 0
}

func (l *lane) close() {
	close(l.done)
	l.wg.Wait()
	for {
		select {
		case c := <-l.ready:
			c.release()
		default:
			return
		}
	}
}

func (l *lane) stats(s *Stats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Ready[string(l.kind)] = len(l.ready)
	s.Live[string(l.kind)] = l.live
	if l.z != nil && l.z.cmd.Process != nil {
		s.PIDs = append(s.PIDs, l.z.cmd.Process.Pid)
	}
}

// workDir makes the folder that stands in for the tmpfs in ModeNone.
func workDir() (string, error) {
	dir, err := os.MkdirTemp("", "w-")
	if err != nil {
		return "", fmt.Errorf("make a folder: %w", err)
	}
	return dir, nil
}
