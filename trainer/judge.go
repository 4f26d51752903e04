package trainer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/proctor-rl/proctor/trainer/policy"
	"github.com/proctor-rl/proctor/trainer/rollout"
)

// policyDirs are the folders of a run that hold a policy, in the order in which
// Judge looks for one: the result, the best so far, the warm start.
var policyDirs = []string{"final", "best", "warm"}

// RunConfig reads the configuration of a run folder.
func RunConfig(dir string) (Config, error) {
	return ReadConfig(filepath.Join(dir, "config.resolved.yaml"), nil)
}

// Judge prepares evaluations of the policy in a run folder. which names one of
// its folders; empty takes the first of final, best and warm that is there.
func Judge(cfg Config, opts Options, which string) (*Trainer, error) {
	t, err := New(cfg, opts)
	if err != nil {
		return nil, err
	}
	at := filepath.Join(opts.Dir, which)
	if which == "" {
		for _, d := range policyDirs {
			if _, err := os.Stat(filepath.Join(opts.Dir, d, policyFile)); err == nil {
				at = filepath.Join(opts.Dir, d)
				break
			}
		}
	}
	if t.model, err = loadPolicy(cfg, at); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// Evaluate judges the policy on up to perSlice tasks of each slice of a split,
// after the first skip of each.
func (t *Trainer) Evaluate(ctx context.Context, split string, skip, perSlice int) (Evaluation, error) {
	tasks, err := t.tasksOf(ctx, split, skip, perSlice)
	if err != nil {
		return Evaluation{}, err
	}
	return t.evaluate(ctx, "eval", split, tasks)
}

// Sample plays n tasks of a split from its task at first on.
func (t *Trainer) Sample(ctx context.Context, split string, first, n int, temperature float64, seed uint64) ([]rollout.Episode, rollout.Times, error) {
	jobs := make([]rollout.Job, n)
	for i := range jobs {
		jobs[i] = rollout.Job{Split: split, Index: first + i, Seed: int64(i), Task: uint64(i)}
	}
	t.model.player.Refresh()
	episodes, times, err := t.collector.Play(ctx, t.model.player, policy.StreamKey{Seed: seed, Update: evalStream}, policy.SampleConfig{Temperature: float32(temperature)}, jobs)
	if err != nil {
		return nil, times, fmt.Errorf("sample: %w", err)
	}
	return episodes, times, nil
}

// Group plays one training task k times, as an update would.
func (t *Trainer) Group(ctx context.Context, split string, index, k int, seed uint64) ([]rollout.Episode, error) {
	jobs := make([]rollout.Job, k)
	for i := range jobs {
		jobs[i] = rollout.Job{Split: split, Index: index, Seed: 1, GroupID: fmt.Sprintf("lab-%d-%d", seed, index), Member: uint64(i)}
	}
	t.model.player.Refresh()
	episodes, _, err := t.collector.Play(ctx, t.model.player, policy.StreamKey{Seed: seed}, policy.SampleConfig{Temperature: 1}, jobs)
	if err != nil {
		return nil, fmt.Errorf("play group: %w", err)
	}
	return episodes, nil
}

// Untrained prepares a policy that has learned nothing, for exercises.
func Untrained(cfg Config, opts Options) (*Trainer, error) {
	t, err := New(cfg, opts)
	if err != nil {
		return nil, err
	}
	if t.model, err = newModel(cfg, nil); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}
