package codefix

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// The members of a group ask at once: one answer is worked out for all, and an
// error or a result that hung on a clock is nobody else's.
func TestRememberComputesOnce(t *testing.T) {
	j := newJudge(nil, nil, false)
	var n atomic.Int32
	ask := func(key string, keep bool, err error) {
		var wg sync.WaitGroup
		gate := make(chan struct{})
		for range 8 {
			wg.Go(func() {
				v, e := remember(t.Context(), j, key, func() (int, bool, error) {
					n.Add(1)
					<-gate
					return 7, keep, err
				})
				if !errors.Is(e, err) || e == nil && v != 7 {
					t.Errorf("%s: %d, %v", key, v, e)
				}
			})
		}
		close(gate)
		wg.Wait()
	}
	ask("kept", true, nil)
	if n.Swap(0) != 1 {
		t.Error("the same was worked out more than once")
	}
	ask("hung", false, nil)
	if n.Swap(0) != 8 {
		t.Error("a result that is not kept was given to others")
	}
	broken := errors.New("broken")
	ask("broken", true, broken)
	if n.Swap(0) != 8 || len(j.busy) != 0 || len(j.seen) != 1 {
		t.Errorf("%d busy, %d seen", len(j.busy), len(j.seen))
	}
}
