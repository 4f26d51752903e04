package rollout

import "github.com/proctor-rl/proctor/trainer/policy"

// Player picks actions for many episodes at once. It is used by one goroutine.
type Player interface {
	// Refresh takes up changed parameters and drops all episodes.
	Refresh()
	// Begin opens an episode that starts with an observation and asks for its
	// first action. ok is false where there is no room to act at all.
	Begin(key policy.StreamKey, cfg policy.SampleConfig, observation string) (episode int, ok bool)
	// Observe tells the answer to the last action and asks for the next one. It
	// returns false where the context has no room left for it.
	Observe(episode int, observation string) bool
	// Step works on every episode that owes an action and returns those that
	// have it now, in ascending order. It returns nil when none owes one.
	Step() []int
	// Action is the text of the last action of an episode.
	Action(episode int) string
	// End closes an episode and returns it as tokens.
	End(episode int) Record
}

// Record is one episode as a player recorded it. Ends are the indices after the
// last token of each action.
type Record struct {
	Tokens []int32
	Mask   []bool
	LogP   []float32
	Ends   []int
}
