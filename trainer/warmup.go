package trainer

import (
	"context"
	"errors"
	"fmt"

	"github.com/proctor-rl/proctor/trainer/algo/sft"
	"github.com/proctor-rl/proctor/trainer/policy"
	"github.com/proctor-rl/proctor/trainer/rl"
)

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
		t.log.WarnContext(ctx, "demonstrations longer than the context left out", "count", tooLong)
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
		var count int
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
