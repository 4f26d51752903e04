package trainer_test

import (
	"testing"

	"github.com/proctor-rl/proctor/trainer"
	"github.com/proctor-rl/proctor/trainer/rollout"
)

// What an environment measures without paying for it, and what it flags, are
// shares of the episodes that count; an episode that our side broke does not.
func TestEpisodeStatsOfPartsAndFlags(t *testing.T) {
	v := trainer.EpisodeStats([]rollout.Episode{
		{Valid: true, Reward: 1, Parts: map[string]float64{"paid": 1, "true": 0, "changed": 1}},
		{Valid: true, Reward: 0, Parts: map[string]float64{"paid": 0, "true": 1}, Flags: []string{"a", "b"}},
		{Valid: true, Reward: 0, Flags: []string{"a"}},
		{Valid: true, Reward: 0},
		{Valid: false, Parts: map[string]float64{"paid": 1}, Flags: []string{"a"}},
	})
	for name, want := range map[string]float64{
		"reward_mean": 0.25, "part/paid": 0.25, "part/true": 0.25, "part/changed": 0.25, "flag/a": 0.5, "flag/b": 0.25, "flagged_rate": 0.5, "infra_error_rate": 0.2,
	} {
		if v[name] != want {
			t.Errorf("%s is %g, want %g", name, v[name], want)
		}
	}
}
