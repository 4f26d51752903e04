package policy

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// TestTeam lets a team do work of changing size at once, after a pause in which
// its members are still looking for work, and after one in which they are gone.
func TestTeam(t *testing.T) {
	for _, procs := range []int{1, 2, 7} {
		old := runtime.GOMAXPROCS(procs)
		var did [6]int // by part; each is one goroutine's at a time
		tm := &team{}
		tm.do = func(part int) {
			for range part * 50 {
				runtime.Gosched()
			}
			did[part]++
		}
		var want [6]int
		for i := range 600 {
			n := 1 + i*7%6
			tm.run(n)
			for part := range n {
				want[part]++
			}
			if !slices.Equal(did[:], want[:]) {
				t.Fatalf("%d processors, run %d: the parts were done %v times, want %v", procs, i, did, want)
			}
			if i%50 == 0 {
				pause(time.Duration(i%4) * patience)
			}
		}
		runtime.GOMAXPROCS(old)
	}
}

// pause keeps the caller busy.
func pause(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
		runtime.Gosched()
	}
}

// TestTeamDisbands checks that the goroutines of a team that nobody calls end.
func TestTeamDisbands(t *testing.T) {
	var parts atomic.Int32
	tm := &team{do: func(int) { parts.Add(1) }}
	tm.run(5)
	if n := parts.Load(); n != 5 {
		t.Fatalf("%d parts were done, want 5", n)
	}
	for i, m := range tm.members {
		for begin := time.Now(); m.state.Load() != gone; runtime.Gosched() {
			if time.Since(begin) > time.Minute {
				t.Fatalf("member %d is still there", i+1)
			}
		}
	}
}
