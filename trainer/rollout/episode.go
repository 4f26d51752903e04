package rollout

import (
	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/trainer/rl"
)

// Job is one episode to play.
type Job struct {
	TaskID  string // empty: Split and Index name the task
	Split   string
	Index   int
	Seed    int64
	GroupID string
	Task    uint64 // position of the task in the update, for the random stream
	Member  uint64 // member of the group, likewise
}

// Turn is one observation and the action that answered it.
type Turn struct {
	Observation string  `json:"observation"`
	Action      string  `json:"action"`
	Reward      float64 `json:"reward"`
	StateKey    string  `json:"state_key,omitempty"`
	ParseError  string  `json:"parse_error,omitempty"`
	ToolError   string  `json:"tool_error,omitempty"`
	EnvMillis   float64 `json:"env_ms,omitempty"`
}

// Episode is one played episode.
type Episode struct {
	Job       Job            `json:"-"`
	TaskID    string         `json:"task_id"`
	EpisodeID string         `json:"episode_id"`
	Public    map[string]any `json:"public,omitempty"`
	Turns     []Turn         `json:"turns"`
	Final     string         `json:"final_observation,omitempty"`

	Reward     float64  `json:"reward"`
	Valid      bool     `json:"valid"`
	Passed     bool     `json:"passed"`
	Status     string   `json:"status"`
	StopReason string   `json:"stop_reason,omitempty"`
	NoRoom     bool     `json:"no_room,omitempty"` // ended because the context was full
	Flags      []string `json:"flags,omitempty"`   // integrity flags of the grade
	// Parts are the parts of the reward by name, summed over the episode, before
	// their weights: also those of weight 0, which are measured and not paid.
	Parts map[string]float64 `json:"reward_parts,omitempty"`

	Attempts int    `json:"attempts,omitempty"`
	Failure  string `json:"failure,omitempty"` // why it is not valid

	Record Record `json:"-"`
}

// Trajectory is the part of an episode that training looks at.
func (e *Episode) Trajectory() rl.Trajectory {
	t := rl.Trajectory{
		Tokens: e.Record.Tokens, Mask: e.Record.Mask, LogP: e.Record.LogP,
		Reward: e.Reward, Passed: e.Passed, Valid: e.Valid,
		Truncated: e.Status == string(api.StatusTruncated),
	}
	for i, end := range e.Record.Ends {
		s := rl.Step{End: end}
		if i < len(e.Turns) {
			s.Reward, s.StateKey = e.Turns[i].Reward, e.Turns[i].StateKey
		}
		t.Steps = append(t.Steps, s)
	}
	return t
}

// addParts adds the reward parts of a step.
func (e *Episode) addParts(parts []api.RewardPart) {
	for _, p := range parts {
		if e.Parts == nil {
			e.Parts = map[string]float64{}
		}
		e.Parts[p.Name] += p.Value
	}
}
