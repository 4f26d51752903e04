package trainer

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/trainer/rl"
)

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
