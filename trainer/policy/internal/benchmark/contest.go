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
	cpu       bool          // count processor time
	budget    time.Duration // no round begins that would not end within it; 0 is no limit
}

// contest is one thing that all sides with equal threads do in turns.
type contest struct {
	Size    size   `json:"size"`
	Batch   int    `json:"batch"` // sequences to decode; 0 means a training step
	Threads int    `json:"threads"`
	Best    []turn `json:"best"` // of each side, in order
}

func (c *contest) what() string {
	if c.Batch == 0 {
		return "train"
	}
	return "decode"
}

// order is what a side is asked for: about as long a turn at every size.
func (c *contest) order() order {
	return order{What: c.what(), Size: c.Size.name(), Batch: c.Batch, Steps: max(1, 256/c.Size.Dim)}
}

// speed is the tokens a second of a turn.
func (c *contest) speed(t turn) float64 {
	if c.Batch == 0 {
		return tokens / t.Seconds
	}
	return float64(c.Batch*(sampled-1)) / t.Seconds
}

// flops is the operations of one token.
func (c *contest) flops() float64 {
	if c.Batch == 0 {
		return c.Size.trainFlops() / tokens
	}
	return c.Size.decodeFlops()
}

// limits are those of some cores together.
type limits struct {
	Cores int       `json:"cores"`
	Peak  float64   `json:"peak"` // operations a second
	Read  []float64 `json:"read"` // bytes a second, of each working set
}

// workingSets are the sizes whose reading is measured, of each core.
var workingSets = []struct {
	name  string
	bytes int
}{{"16 KB", 16 << 10}, {"256 KB", 256 << 10}, {"8 MB", 8 << 20}, {"256 MB", 256 << 20}}

// improve measures the limits once more and keeps the best.
func (l *limits) improve() {
	l.Peak = max(l.Peak, machine.Peak(l.Cores, 60))
	if l.Read == nil {
		l.Read = make([]float64, len(workingSets))
	}
	for i, s := range workingSets {
		l.Read[i] = max(l.Read[i], machine.Bandwidth(l.Cores, s.bytes, 3))
	}
}

// report is what was measured.
type report struct {
	Rounds   int        `json:"rounds"`
	CPU      bool       `json:"cpu"`
	Sides    []string   `json:"sides"` // names, this project's first
	Limits   []limits   `json:"limits"`
	Contests []*contest `json:"contests"`
}

func (r *report) limitsOf(threads int) limits {
	for _, l := range r.Limits {
		if l.Cores == threads {
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
	r := &report{Rounds: c.rounds, CPU: c.cpu}
	sides := map[int][]*side{}
	defer func() {
		for _, all := range sides {
			for _, s := range all {
				s.stop()
			}
		}
	}()
	for _, n := range c.threads {
		r.Limits = append(r.Limits, limits{Cores: n})
		r.Sides = nil
		for _, command := range append([]string{self + " -side"}, c.opponents...) {
			s, err := start(command, n)
			if err != nil {
				return nil, err
			}
			sides[n] = append(sides[n], s)
			r.Sides = append(r.Sides, s.name)
		}
		for _, z := range sizes {
			for _, b := range []int{0, 1, 64} {
				k := &contest{Size: z, Batch: b, Threads: n, Best: make([]turn, len(r.Sides))}
				if c.wants(k) {
					r.Contests = append(r.Contests, k)
				}
			}
		}
	}
	// The first round warms up and does not count.
	begin, longest := time.Now(), time.Duration(0)
	for round := range c.rounds + 1 {
		roundBegin := time.Now()
		if round > 1 && c.budget > 0 && time.Since(begin)+longest > c.budget {
			r.Rounds = round - 1
			break
		}
		if round > 0 {
			for i := range r.Limits {
				r.Limits[i].improve()
			}
		}
		for _, k := range r.Contests {
			err := k.play(sides[k.Threads], round > 0, c.cpu)
			if err != nil && round > 1 {
				// What was measured so far is worth having.
				fmt.Fprintf(os.Stderr, "ended in round %d: %v\n", round, err)
				r.Rounds = round - 1
				return r, nil
			}
			if err != nil {
				return nil, err
			}
		}
		if round > 0 {
			longest = max(longest, time.Since(roundBegin))
		}
		fmt.Fprintf(os.Stderr, "round %d after %.0f s\n", round, time.Since(begin).Seconds())
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
		if what == k.what() && (!some || name == k.Size.name()) {
			return true
		}
	}
	return false
}

// play is one turn of every side.
func (c *contest) play(sides []*side, counts, cpu bool) error {
	for i, s := range sides {
		// Threads of the last side may spin for a while before they sleep.
		time.Sleep(20 * time.Millisecond) //nolint:forbidigo // another program's threads say nothing
		t, err := s.ask(c.order())
		if err != nil {
			return err
		}
		if cpu {
			t.Seconds = t.CPU
		}
		if t.Absent {
			c.Best[i] = t
		} else if counts && (c.Best[i].Seconds == 0 || t.Seconds < c.Best[i].Seconds) {
			c.Best[i] = t
		}
	}
	return nil
}
