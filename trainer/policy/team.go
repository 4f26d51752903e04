package policy

import "sync"

// team does the parts of a piece of work on a goroutine each and allocates
// nothing once it has been as large. One goroutine at a time may use it.
type team struct {
	do      func(part int)
	members []func() // of part 1 on; the caller does part 0
	busy    sync.WaitGroup
}

// run calls do for parts 0 to n-1 and waits for all of them.
func (t *team) run(n int) {
	for len(t.members) < n-1 {
		part := len(t.members) + 1
		t.members = append(t.members, func() {
			defer t.busy.Done()
			t.do(part)
		})
	}
	t.busy.Add(n - 1)
	for _, f := range t.members[:n-1] {
		go f()
	}
	t.do(0)
	t.busy.Wait()
}
