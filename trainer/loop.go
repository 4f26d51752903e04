package trainer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/trainer/algo/sft"
	"github.com/proctor-rl/proctor/trainer/policy"
	"github.com/proctor-rl/proctor/trainer/rl"
	"github.com/proctor-rl/proctor/trainer/rollout"
)

// ErrStopped means that a run was interrupted and can be resumed.
var ErrStopped = errors.New("stopped before the end; resume to go on")

// Run trains to the end. When ctx is cancelled between two updates it writes a
// checkpoint and returns an error that wraps ErrStopped.
func (t *Trainer) Run(ctx context.Context) (Report, error) {
	t.started = t.now()
	if err := t.open(ctx); err != nil {
		return Report{}, err
	}
	report, err := t.run(ctx)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ErrStopped, err)
	}
	return report, errors.Join(err, t.recorder.flush(t.cfg.Name), t.recorder.close())
}

// WarmUp is the supervised part of Run alone.
func (t *Trainer) WarmUp(ctx context.Context) (Report, error) {
	t.started = t.now()
	if err := t.open(ctx); err != nil {
		return Report{}, err
	}
	err := t.warmUp(ctx)
	if err == nil {
		err = t.saveWarm()
	}
	r := Report{Dir: t.dir, Seconds: t.seconds()}
	if err == nil && t.cfg.Eval.Test > 0 {
		if err = t.checkpointAt(t.state.Step); err == nil {
			r.Start, err = t.judge(ctx, "start")
			r.Final = r.Start
		}
	}
	return r, errors.Join(err, t.recorder.flush(t.cfg.Name), t.recorder.close())
}

func (t *Trainer) run(ctx context.Context) (Report, error) {
	r := Report{Dir: t.dir}
	if t.state.Phase == "sft" {
		if err := t.warmUp(ctx); err != nil {
			return r, err
		}
		t.state.Phase, t.state.Step = "rl", 0
		if err := t.saveWarm(); err != nil {
			return r, err
		}
		if err := t.startRL(); err != nil {
			return r, err
		}
		if err := t.checkpointAt(0); err != nil {
			return r, err
		}
	}
	var err error
	if t.cfg.Eval.Test > 0 {
		if r.Start, err = LoadEvaluation(t.dir, "start"); err != nil {
			if r.Start, err = t.judge(ctx, "start"); err != nil {
				return r, err
			}
		}
	}
	if err := t.learn(ctx); err != nil {
		return r, err
	}
	if t.opts.StopAfter > 0 && t.state.Step < t.cfg.RL.Updates && t.state.Step >= t.opts.StopAfter {
		return r, ErrStopped
	}
	if t.cfg.Eval.KeepBest != "off" && t.state.HasBest {
		best, err := loadPolicy(t.cfg, filepath.Join(t.dir, "best"))
		if err != nil {
			return r, fmt.Errorf("best policy: %w", err)
		}
		if err := t.model.setParams(best); err != nil {
			return r, fmt.Errorf("best policy: %w", err)
		}
		r.BestUpdate = t.state.BestUpdate
	} else if t.average != nil {
		copy(t.model.Params(), t.average.mean)
	}
	if err := t.saveFinal(); err != nil {
		return r, err
	}
	if t.cfg.Eval.Test > 0 {
		if r.Final, err = t.judge(ctx, "final"); err != nil {
			return r, err
		}
	}
	r.Updates, r.Episodes, r.Seconds = t.state.Step, t.state.Episodes, t.seconds()
	r.RLSeconds, r.Tokens = t.state.RLSeconds, t.state.Tokens
	if err := replaceFile(filepath.Join(t.dir, "report.json"), writeJSON(r)); err != nil {
		return r, fmt.Errorf("write report: %w", err)
	}
	return r, nil
}

// saveFinal keeps the policy that the run ends with, under final/.
func (t *Trainer) saveFinal() error {
	files := map[string]func(io.Writer) error{policyFile: t.model.save, stateFile: writeJSON(t.state)}
	if t.model.tokens != nil {
		files[tokensFile] = t.model.tokens.Save
	}
	if err := writeDir(filepath.Join(t.dir, "final"), files); err != nil {
		return fmt.Errorf("save final policy: %w", err)
	}
	return nil
}

// judge evaluates on the test split and records it.
func (t *Trainer) judge(ctx context.Context, label string) (Evaluation, error) {
	t.progress.note("evaluating (%s) on %s ...", label, t.cfg.Env.Test)
	tasks, err := t.tasksOf(ctx, t.cfg.Env.Test, t.cfg.Eval.Skip, t.cfg.Eval.Test)
	if err != nil {
		return Evaluation{}, err
	}
	ev, err := t.evaluate(ctx, label, t.cfg.Env.Test, tasks)
	if err != nil {
		return ev, err
	}
	t.progress.note("%s", ev.Text())
	return ev, ev.save(t.dir)
}

// warmUp makes the steps of the supervised warm start that are left.
func (t *Trainer) warmUp(ctx context.Context) error {
	c := t.cfg.SFT
	total := c.CopySteps + c.Steps
	if t.state.Step >= total {
		return nil
	}
	if err := t.readDemos(); err != nil {
		return err
	}
	data, tooLong := examples(t.model.tokens, t.demos, t.model.context)
	if tooLong > 0 {
		t.log.Warn("demonstrations longer than the context left out", "count", tooLong)
	}
	plan, err := sft.NewPlan(c.Config, data, t.cfg.Seed)
	if err != nil {
		return err
	}
	start, tokens, sum, n := t.now(), 0, 0.0, 0
	const every = 50 // steps between rows, checkpoints every twenty rows
	for t.state.Step < total {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, t.checkpointAt(t.state.Step))
		}
		var loss float64
		var err error
		count := 0
		if s := t.state.Step; s < c.CopySteps {
			b := policy.CopyBatch(t.model.tokens.Vocab(), c.CopyBatch, t.cfg.Seed, uint64(s))
			count = len(b.Tokens)
			loss, err = sft.Likelihood(t.model, t.step, []*policy.Packed{{Batch: *b}})
		} else {
			loss, count, err = sft.Step(t.model, t.step, plan.At(s-c.CopySteps), c.MicroTokens)
		}
		if err != nil {
			return fmt.Errorf("warm start step %d: %w", t.state.Step, err)
		}
		t.state.Step++
		tokens, sum, n = tokens+count, sum+loss, n+1
		now := t.now()
		spent := now.Sub(start)
		t.progress.line(now, t.state.Step == total, "warm start %s %d/%d  loss %.3f  %.0f tokens/s  left %s",
			bar(float64(t.state.Step)/float64(total)), t.state.Step, total, sum/float64(n), float64(tokens)/max(spent.Seconds(), 1e-9), eta(n, total-t.state.Step+n, spent))
		if t.state.Step%every == 0 || t.state.Step == total || t.state.Step == c.CopySteps {
			t.state.Seconds = t.seconds()
			t.metrics.loss.Set(loss)
			err := t.record(ctx, Row{Phase: "sft", Update: t.state.Step, Seconds: t.state.Seconds, Values: rl.Stats{
				"sft_loss": sum / float64(n), "sft_tokens_per_s": float64(tokens) / max(spent.Seconds(), 1e-9), "lr": t.step.Schedule.At(t.state.Step - 1),
			}})
			if err != nil {
				return err
			}
			start, tokens, sum, n = now, 0, 0, 0
		}
		if t.state.Step%(20*every) == 0 {
			if err := t.checkpoint(); err != nil {
				return err
			}
		}
	}
	return nil
}

// learn makes the updates that are left.
func (t *Trainer) learn(ctx context.Context) error {
	c := t.cfg
	validation, err := t.tasksOf(ctx, c.Env.Validation, 0, c.Eval.Validation)
	if err != nil {
		return err
	}
	if t.state.Step == 0 && !t.state.HasBest {
		if err := t.validate(ctx, validation); err != nil {
			return err
		}
	}
	begun := t.now()
	first := t.state.Step
	for t.state.Step < c.RL.Updates {
		if t.opts.StopAfter > 0 && t.state.Step >= t.opts.StopAfter {
			return t.checkpointAt(t.state.Step)
		}
		if c.RL.MaxSeconds > 0 && t.state.RLSeconds >= c.RL.MaxSeconds {
			t.progress.note("time limit of %.0fs for updates reached", c.RL.MaxSeconds)
			break
		}
		if c.Eval.Target > 0 && t.state.HasBest && t.state.Best >= c.Eval.Target {
			t.progress.note("target %.2f reached on %s", c.Eval.Target, c.Env.Validation)
			break
		}
		row, err := t.update(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return errors.Join(err, t.checkpointAt(t.state.Step))
			}
			return err
		}
		u := t.state.Step
		if c.Eval.Every > 0 && (u%c.Eval.Every == 0 || u == c.RL.Updates) && len(validation) > 0 {
			t0 := t.now()
			err := t.averaged(func() error {
				ev, err := t.evaluate(ctx, fmt.Sprintf("validation_%06d", u), c.Env.Validation, validation)
				if err != nil {
					return err
				}
				return t.judged(ev, row.Values)
			})
			if err != nil {
				if ctx.Err() != nil {
					// The update itself is done; the evaluation is not needed to resume.
					return errors.Join(err, t.checkpointAt(u))
				}
				return err
			}
			row.Values["time_eval"] = t.now().Sub(t0).Seconds()
		}
		if err := t.record(ctx, row); err != nil {
			return err
		}
		v := row.Values
		held := ""
		if g, ok := v["eval_success_greedy"]; ok {
			held = fmt.Sprintf("  held-out %.3f greedy %.3f sampled", g, v["eval_success_sampled"])
		}
		t.progress.line(t.now(), held != "" || u == c.RL.Updates, "update %s %d/%d  reward %.3f  success %.3f  entropy %.3f  kl %.4f  zero-std %.2f  %.0f tok/s  left %s%s",
			bar(float64(u)/float64(c.RL.Updates)), u, c.RL.Updates, v["reward_mean"], v["success_rate"], v["entropy"], v["approx_kl"], v["frac_zero_std"], v["tokens_per_s"],
			eta(u-first, c.RL.Updates-first, t.now().Sub(begun)), held)
		if u%c.Output.Checkpoint == 0 || u == c.RL.Updates {
			if err := t.checkpointAt(u); err != nil {
				return err
			}
		}
	}
	return nil
}

// validate evaluates before the first update and makes that the best so far.
func (t *Trainer) validate(ctx context.Context, tasks []api.Task) error {
	if len(tasks) == 0 {
		return nil
	}
	ev, err := t.evaluate(ctx, "validation_000000", t.cfg.Env.Validation, tasks)
	if err != nil {
		return err
	}
	v := rl.Stats{}
	if err := t.judged(ev, v); err != nil {
		return err
	}
	return t.record(ctx, Row{Phase: "rl", Update: 0, Seconds: t.seconds(), Values: v})
}

// judged takes an evaluation on validation into the metrics and keeps the
// policy if it is the best so far.
func (t *Trainer) judged(ev Evaluation, v rl.Stats) error {
	for k, x := range ev.values("eval") {
		v[k] = x
	}
	for d, f := range ev.Overall {
		t.metrics.heldOut.WithLabelValues(d).Set(f.Rate)
	}
	if err := ev.save(t.dir); err != nil {
		return err
	}
	if t.cfg.Eval.KeepBest == "off" {
		return nil
	}
	score := t.score(ev)
	if t.state.HasBest && score <= t.state.Best {
		return nil
	}
	t.state.Best, t.state.BestUpdate, t.state.HasBest = score, t.state.Step, true
	files := map[string]func(io.Writer) error{policyFile: t.model.save, stateFile: writeJSON(t.state)}
	if t.model.tokens != nil {
		files[tokensFile] = t.model.tokens.Save
	}
	if err := writeDir(filepath.Join(t.dir, "best"), files); err != nil {
		return fmt.Errorf("save best policy: %w", err)
	}
	return nil
}

// score is what policies are ranked by: the mean over slices, so that a slice
// that training neglects counts as much as one that it does not.
func (t *Trainer) score(ev Evaluation) float64 {
	mean := func(decoding string) float64 {
		sum := 0.0
		for _, s := range sortedKeys(ev.Slices[decoding]) {
			sum += ev.Slices[decoding][s].Rate
		}
		return sum / float64(max(len(ev.Slices[decoding]), 1))
	}
	switch t.cfg.Eval.KeepBest {
	case Greedy:
		return mean(Greedy)
	case Sampled:
		return mean(Sampled)
	}
	return (mean(Greedy) + mean(Sampled)) / 2
}

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

// record writes a row and pushes it to the server's page.
func (t *Trainer) record(ctx context.Context, row Row) error {
	if err := t.recorder.add(row); err != nil {
		return err
	}
	if t.runID == "" || row.Phase != "rl" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := t.catalogue.PushPoints(ctx, t.runID, []api.Point{{Update: int64(row.Update), WallSeconds: row.Seconds, Values: row.Values}}); err != nil {
		t.log.Warn("metrics not pushed to the server", "err", err)
	}
	return nil
}

// checkpointAt writes a checkpoint unless the run stopped inside a step.
func (t *Trainer) checkpointAt(step int) error {
	if t.state.Step != step {
		return fmt.Errorf("checkpoint: state is at %d, not %d", t.state.Step, step)
	}
	t.state.Seconds = t.seconds()
	if err := t.checkpoint(); err != nil {
		return err
	}
	return t.recorder.flush(t.cfg.Name)
}
