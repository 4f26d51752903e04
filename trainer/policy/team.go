package policy

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// patience is how long a member looks for its next part, and the caller for the
// end of the others', before they sleep. A core that sleeps takes a tenth of a
// millisecond and more to wake up on a virtual machine, as long as the part of a
// sampling step of a small model, and such steps follow each other at once.
const patience = 100 * time.Microsecond

// team does the parts of a piece of work on a goroutine each and allocates
// nothing once it has been as large. One goroutine at a time may use it. Its
// goroutines end by themselves soon after the work.
type team struct {
	do      func(part int)
	members []*member // of part 1 on; the caller does part 0
	busy    sync.WaitGroup
	left    atomic.Int32 // members that are not done
}

// member is the goroutine of one part, if there is one at the moment.
type member struct {
	state atomic.Int32
	serve func()
}

// What a member does.
const (
	gone    int32 = iota // it has no goroutine
	looking              // for work
	working
)

// run calls do for parts 0 to n-1 and waits for all of them.
func (t *team) run(n int) {
	for len(t.members) < n-1 {
		t.hire()
	}
	t.busy.Add(n - 1)
	t.left.Store(int32(n - 1))
	for _, m := range t.members[:n-1] {
		if m.state.Swap(working) == gone {
			go m.serve()
		}
	}
	t.do(0)
	wait(func() bool { return t.left.Load() == 0 })
	t.busy.Wait()
}

// hire adds a member.
func (t *team) hire() {
	part, m := len(t.members)+1, new(member)
	called := func() bool { return m.state.Load() == working }
	m.serve = func() {
		for {
			t.work(part, m)
			if !wait(called) && m.state.CompareAndSwap(looking, gone) {
				return
			}
		}
	}
	t.members = append(t.members, m)
}

// work does one part. If do panics, the caller does not wait for ever.
func (t *team) work(part int, m *member) {
	defer func() {
		m.state.Store(looking)
		t.left.Add(-1)
		t.busy.Done()
	}()
	t.do(part)
}

// wait looks for a while whether something has come about. Other goroutines go
// first.
func wait(done func() bool) bool {
	for begin := time.Now(); ; {
		for range 16 {
			if done() {
				return true
			}
			runtime.Gosched()
		}
		if time.Since(begin) > patience {
			return false
		}
	}
}
