package codefix

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/proctor-rl/proctor/internal/sandbox"
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

// What is remembered is bounded by bytes: code says of its tests what it likes.
func TestRememberWeighs(t *testing.T) {
	j := newJudge(nil, nil, false)
	for i := range 40 {
		_, err := remember(t.Context(), j, fmt.Sprint("pytest ", i), func() (sandbox.PytestResult, bool, error) {
			return sandbox.PytestResult{Output: strings.Repeat("x", 4<<20), Tests: make([]sandbox.Test, 5000)}, true, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(j.seen) != len(j.order) || len(j.seen) < 10 || len(j.seen) > 16 || j.bytes > rememberBytes {
		t.Errorf("%d seen, %d in order, %d bytes", len(j.seen), len(j.order), j.bytes)
	}
	if _, ok := j.seen["pytest 39"]; !ok {
		t.Error("the latest was forgotten")
	}
}
