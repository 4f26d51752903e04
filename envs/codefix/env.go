package codefix

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/proctor-rl/proctor/envs"
)

// env is one live instance.
type env struct {
	typ   *Type
	task  *Task
	start envs.Start
	ws    *workspace
	ran   string // digest of the workspace at the last visible run
	flags []string
	phase phase
	// potential is the share of hidden checks that the workspace passes, less
	// that of the start. Kept only where the type gives step rewards.
	potential, base float64
}

type phase int

const (
	idle phase = iota
	playing
	over
)

// Reset starts an episode.
func (e *env) Reset(ctx context.Context, start envs.Start) (envs.Observation, error) {
	if err := ctx.Err(); err != nil {
		return envs.Observation{}, err
	}
	t, ok := start.Task.Private.(*Task)
	if !ok {
		return envs.Observation{}, errors.New("reset codefix: task of another type")
	}
	e.task, e.start = t, start
	e.ws = newWorkspace(t.original(), e.typ.opts.Naive)
	e.flags, e.ran, e.potential, e.base = nil, "", 0, 0
	o, err := e.first(ctx)
	if err != nil {
		e.phase = idle
		return envs.Observation{}, fmt.Errorf("reset codefix: %w", err)
	}
	if e.typ.opts.StepReward > 0 {
		v, err := e.typ.judge.grade(ctx, t, e.ws, start.Seed)
		if err != nil {
			e.phase = idle
			return envs.Observation{}, fmt.Errorf("reset codefix: %w", err)
		}
		e.base = v.fraction
	}
	e.phase = playing
	return o, nil
}

// Step plays one action.
func (e *env) Step(ctx context.Context, a envs.Action) (envs.Outcome, error) {
	if err := e.ready(); err != nil {
		return envs.Outcome{}, err
	}
	if err := ctx.Err(); err != nil {
		return envs.Outcome{}, err
	}
	out := envs.Outcome{StateKey: e.stateKey()}
	turn := &turn{env: e, out: &out}
	before := e.ws.digest()
	var err error
	if len(a.ToolCalls) > 0 {
		err = turn.playCalls(ctx, a.ToolCalls)
	} else {
		err = turn.playText(ctx, a.Text)
	}
	if err != nil {
		return envs.Outcome{}, err
	}
	if err := turn.reward(ctx, before); err != nil {
		return envs.Outcome{}, err
	}
	turn.finishObservation()
	out.Info.Flags = unique(out.Info.Flags)
	return out, nil
}

// Score grades the workspace as it stands.
func (e *env) Score(ctx context.Context) (envs.Outcome, error) {
	if err := e.ready(); err != nil {
		return envs.Outcome{}, err
	}
	if err := ctx.Err(); err != nil {
		return envs.Outcome{}, err
	}
	out := envs.Outcome{StateKey: e.stateKey()}
	turn := &turn{env: e, out: &out, ended: true}
	turn.say("The episode was ended from outside.")
	if err := turn.reward(ctx, e.ws.digest()); err != nil {
		return envs.Outcome{}, err
	}
	turn.finishObservation()
	return out, nil
}

// Close forgets the episode. The sandbox's children belong to its pool.
func (e *env) Close() error {
	e.phase, e.task, e.ws = idle, nil, nil
	return nil
}

// Fork copies the state.
func (e *env) Fork(context.Context) (envs.Env, error) {
	c := *e
	c.flags = slices.Clone(e.flags)
	if e.ws != nil {
		c.ws = newWorkspace(e.ws.files, e.ws.open)
		c.ws.original = e.ws.original
	}
	return &c, nil
}

func (e *env) ready() error {
	switch e.phase {
	case idle:
		return envs.ErrNotReset
	case over:
		return envs.ErrOver
	case playing:
	}
	return nil
}

// stateKey is equal for equal states: the task, the files, whether they have
// been run, and what was flagged.
func (e *env) stateKey() string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00%t\x00%s", e.task.Split, e.task.ID, e.ws.digest(), e.ran == e.ws.digest(), strings.Join(e.flags, ","))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// share is 1 for yes.
func share(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func unique(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}

// reward grades a turn that ended the episode and fills in the parts.
func (t *turn) reward(ctx context.Context, before string) error {
	e, out, opts := t.env, t.out, t.env.typ.opts
	e.flags = unique(append(e.flags, out.Info.Flags...))
	shaped := opts.StepReward > 0
	var v verdict
	var err error
	if t.ended || shaped && before != e.ws.digest() {
		if v, err = e.typ.judge.grade(ctx, e.task, e.ws, e.start.Seed); err != nil {
			return fmt.Errorf("step codefix: %w", err)
		}
	}
	add := func(name string, kind envs.PartKind, value, weight float64) {
		out.Parts = append(out.Parts, envs.RewardPart{Name: name, Kind: kind, Value: value, Weight: weight})
		out.Reward += value * weight
	}
	if shaped {
		// A difference of potentials sums to nothing over an episode: it moves
		// reward to the step that earned it and cannot be milked.
		next := 0.0
		switch {
		case t.ended:
		case before != e.ws.digest():
			next = v.fraction - e.base
		default:
			next = e.potential
		}
		add(partProgress, envs.PartProcess, next-e.potential, opts.StepReward)
		e.potential = next
	}
	if opts.RefusedWritePenalty > 0 && len(out.Info.Flags) > 0 {
		add(partRefused, envs.PartPenalty, -1, opts.RefusedWritePenalty)
	}
	if !t.ended {
		return nil
	}
	e.phase = over
	score := share(v.solved)
	if e.typ.opts.Naive {
		add(partVisible, envs.PartOutcome, score, 1)
		add(partOutcome, envs.PartOutcome, share(v.measured), 0)
		add(partMeddled, envs.PartPenalty, share(e.ws.meddled()), 0)
	} else {
		add(partOutcome, envs.PartOutcome, score, 1)
	}
	e.flags = unique(append(e.flags, v.flags...))
	out.Grade = &envs.Grade{
		Passed: v.solved, Score: score, Verifier: e.typ.verifier, Tests: v.tests,
		Integrity: envs.Integrity{OK: len(e.flags) == 0, Flags: slices.Clone(e.flags)},
	}
	return nil
}
