package rl

// Trajectory is the trainer's record of one episode, as tokens.
//
// Tokens are the ids that were really shown and really sampled, never text
// encoded again. Mask is true for the ids that the policy chose in this
// episode; only those have a log-probability and only those receive gradient.
// All three slices have equal length.
type Trajectory struct {
	Tokens []int32
	Mask   []bool
	LogP   []float32 // of the sampler, at sampling time; 0 where Mask is false

	Steps []Step // one for each action, in order

	Reward    float64 // return of the episode; meaningless unless Valid
	Passed    bool    // the verifier's verdict
	Valid     bool    // false where our side failed: such an episode teaches nothing
	Truncated bool    // ended by a limit
}

// Step is the part of a trajectory that belongs to one action.
type Step struct {
	End      int     // index after the action's last token
	Reward   float64 // reward of this step
	StateKey string  // hash of the state before the action, empty if the server gave none
}

// Chosen is the number of tokens that the policy chose.
func (t *Trajectory) Chosen() int {
	n := 0
	for _, m := range t.Mask {
		if m {
			n++
		}
	}
	return n
}

// Group is the trajectories of one task under one policy version.
type Group struct {
	TaskID  string
	Kind    string // a public label for statistics by kind of task, may be empty
	Members []Trajectory
}

// Rewards are the returns of the members and whether each was measured.
func (g *Group) Rewards() (r []float64, valid []bool) {
	r = make([]float64, len(g.Members))
	valid = make([]bool, len(g.Members))
	for i := range g.Members {
		r[i] = g.Members[i].Reward
		valid[i] = g.Members[i].Valid
	}
	return r, valid
}

// Stats are named figures of one update, for logs and curves.
type Stats map[string]float64
