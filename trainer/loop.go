package trainer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/proctor-rl/proctor/api"
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
	r.BestUpdate = t.state.Step
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
		t.log.WarnContext(ctx, "metrics not pushed to the server", "err", err)
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
