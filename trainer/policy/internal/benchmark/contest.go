package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/proctor-rl/proctor/trainer/fastblas/machine"
)

// config is what to run.
type config struct {
	only      string
	rounds    int
	opponents []string
	threads   []int
	cpu       bool // count processor time
}

// contest is one thing that all sides with equal threads do in turns.
type contest struct {
	size    size
	batch   int // sequences to decode; 0 means a training step
	threads int
	best    []turn // of each side, in order
}

func (c *contest) what() string {
	if c.batch == 0 {
		return "train"
	}
	return "decode"
}

// order is what a side is asked for: about as long a turn at every size.
func (c *contest) order() order {
	return order{What: c.what(), Size: c.size.name(), Batch: c.batch, Steps: max(1, 384*384/(c.size.dim*c.size.dim)/2)}
}

// speed is the tokens a second of a turn.
func (c *contest) speed(t turn) float64 {
	if c.batch == 0 {
		return tokens / t.Seconds
	}
	return float64(c.batch*(sampled-1)) / t.Seconds
}

// flops is the operations of one token.
func (c *contest) flops() float64 {
	if c.batch == 0 {
		return c.size.trainFlops() / tokens
	}
	return c.size.decodeFlops()
}

// limits are those of some cores together.
type limits struct {
	threads int
	peak    float64   // operations a second
	read    []float64 // bytes a second, of each working set
}

// workingSets are the sizes whose reading is measured, of each core.
var workingSets = []struct {
	name  string
	bytes int
}{{"16 KB", 16 << 10}, {"256 KB", 256 << 10}, {"8 MB", 8 << 20}, {"256 MB", 256 << 20}}

// improve measures the limits once more and keeps the best.
func (l *limits) improve() {
	l.peak = max(l.peak, machine.Peak(l.threads, 60))
	if l.read == nil {
		l.read = make([]float64, len(workingSets))
	}
	for i, s := range workingSets {
		l.read[i] = max(l.read[i], machine.Bandwidth(l.threads, s.bytes, 3))
	}
}

// report is what was measured.
type report struct {
	rounds   int
	cpu      bool
	sides    []string // names, this project's first
	limits   []limits
	contests []*contest
}

func (r *report) limitsOf(threads int) limits {
	for _, l := range r.limits {
		if l.threads == threads {
			return l
		}
	}
	return limits{}
}

// run plays all contests. In a round every contest is played once, by all
// sides one after the other, and the limits are measured at its beginning.
func (c config) run() (*report, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	r := &report{rounds: c.rounds, cpu: c.cpu}
	sides := map[int][]*side{}
	defer func() {
		for _, all := range sides {
			for _, s := range all {
				s.stop()
			}
		}
	}()
	for _, n := range c.threads {
		r.limits = append(r.limits, limits{threads: n})
		r.sides = nil
		for _, command := range append([]string{self + " -side"}, c.opponents...) {
			s, err := start(command, n)
			if err != nil {
				return nil, err
			}
			sides[n] = append(sides[n], s)
			r.sides = append(r.sides, s.name)
		}
		for _, z := range sizes {
			for _, b := range []int{0, 1, 64} {
				k := &contest{size: z, batch: b, threads: n, best: make([]turn, len(r.sides))}
				if c.wants(k) {
					r.contests = append(r.contests, k)
				}
			}
		}
	}
	// The first round warms up and does not count.
	for round := range c.rounds + 1 {
		if round > 0 {
			for i := range r.limits {
				r.limits[i].improve()
			}
		}
		for _, k := range r.contests {
			if err := k.play(sides[k.threads], round > 0, c.cpu); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// wants reports whether k is among those that -only names.
func (c config) wants(k *contest) bool {
	if c.only == "" {
		return true
	}
	for _, f := range strings.Split(c.only, ",") {
		what, name, some := strings.Cut(f, ":")
		if what == k.what() && (!some || name == k.size.name()) {
			return true
		}
	}
	return false
}

// play is one turn of every side.
func (c *contest) play(sides []*side, counts, cpu bool) error {
	for i, s := range sides {
		// Threads of the last side may spin for a while before they sleep.
		time.Sleep(20 * time.Millisecond)
		t, err := s.ask(c.order())
		if err != nil {
			return err
		}
		if cpu {
			t.Seconds = t.CPU
		}
		if counts && (c.best[i].Seconds == 0 || t.Seconds < c.best[i].Seconds) {
			c.best[i] = t
		}
	}
	return nil
}
