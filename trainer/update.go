package trainer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"github.com/proctor-rl/proctor/trainer/policy"
	"github.com/proctor-rl/proctor/trainer/rl"
	"github.com/proctor-rl/proctor/trainer/rollout"
)

// update plays one batch and learns from it.
func (t *Trainer) update(ctx context.Context) (Row, error) {
	c := t.cfg.RL
	u := t.state.Step + 1
	t0 := t.now()
	t.model.player.Refresh()
	key := policy.StreamKey{Seed: t.cfg.Seed, Update: uint64(u)}
	episodes, times, err := t.collector.Play(ctx, t.model.player, key, policy.SampleConfig{Temperature: float32(c.Temperature)}, t.jobs(u))
	if err != nil {
		return Row{}, fmt.Errorf("update %d: play: %w", u, err)
	}
	groups := groupsOf(episodes, c.Group)
	t1 := t.now()
	learned, err := t.algorithm.Update(t.cfg.Seed, uint64(u), groups)
	if err != nil {
		return Row{}, fmt.Errorf("update %d: %w", u, err)
	}
	t2 := t.now()
	v := episodeStats(episodes, groups)
	for k, x := range learned {
		v[k] = x
	}
	total := t2.Sub(t0).Seconds()
	v["tokens"] = float64(times.Tokens)
	v["tokens_per_s"] = float64(times.Tokens) / max(total, 1e-9)
	v["episodes_per_s"] = float64(len(episodes)) / max(total, 1e-9)
	v["time_rollout"], v["time_env_wait"], v["time_update"] = times.Policy.Seconds(), times.Wait.Seconds(), t2.Sub(t1).Seconds()
	v["time_total"] = total
	if c.Algo.Name == "grpo" && t.cfg.Output.Rollouts > 0 && u%t.cfg.Output.Rollouts == 0 {
		if err := saveEpisodes(filepath.Join(t.dir, "rollouts", fmt.Sprintf("update_%06d.jsonl", u)), episodes[:min(c.Group, len(episodes))]); err != nil {
			return Row{}, err
		}
	}
	if t.average != nil {
		t.average.add(t.model.Params())
	}
	t.state.Step = u
	t.state.Episodes += len(episodes)
	t.state.Tokens += times.Tokens
	t.state.RLSeconds += total
	t.state.Seconds = t.seconds()
	t.metrics.observe(u, v)
	t.alarms(u, v)
	return Row{Phase: "rl", Update: u, Seconds: t.state.Seconds, Values: v}, nil
}

// jobs are the episodes of update u: distinct tasks of the training split, a
// group of each. They depend on the seed and u only.
func (t *Trainer) jobs(u int) []rollout.Job {
	c := t.cfg.RL
	rng := rand.New(rand.NewPCG(t.cfg.Seed, 0x7461736b<<16+uint64(u)))
	taken := map[int]bool{}
	var jobs []rollout.Job
	for task := range c.Tasks {
		i := rng.IntN(t.trainSize)
		for taken[i] && len(taken) < t.trainSize {
			i = (i + 1) % t.trainSize
		}
		taken[i] = true
		seed := rng.Int64N(1 << 48)
		group := fmt.Sprintf("%s-%d-u%d-t%d", t.cfg.Name, t.cfg.Seed, u, task)
		for m := range c.Group {
			jobs = append(jobs, rollout.Job{Split: t.cfg.Env.Train, Index: i, Seed: seed, GroupID: group, Task: uint64(task), Member: uint64(m)})
		}
	}
	return jobs
}

// alarms logs what a human should look at.
func (t *Trainer) alarms(u int, v rl.Stats) {
	switch {
	// Later on, a policy that solves everything is what is hoped for.
	case v["alarm_constant_reward"] == 1 && u <= 3:
		t.log.Warn("every episode of an update earned the same", "update", u, "reward", v["reward_mean"])
	case v["infra_error_rate"] > 0.02:
		t.log.Warn("many episodes excluded", "update", u, "share", v["infra_error_rate"])
	case v["sampler_abs_logp_diff_max"] > 1e-3:
		t.log.Warn("sampler and trainer disagree", "update", u, "max_abs_logp_diff", v["sampler_abs_logp_diff_max"])
	}
}
