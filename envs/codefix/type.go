package codefix

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/proctor-rl/proctor/envs"
)

// The names of the environment types of this package.
const (
	Name      = "codefix"
	NaiveName = "codefix-naive-unsafe"
	// CompactName is the built-in tasks of one file in the compact style.
	CompactName = "codefix-compact"
)

const version = "1.0.0"

const (
	partOutcome  = "hidden_tests"
	partProgress = "progress"
	partRefused  = "flagged_action"
	partVisible  = "visible_exit_status" // of the naive type: what it pays for
	partMeddled  = "tests_changed"       // of the naive type: measured, not paid
)

// Options configure a Type. The zero value is "codefix" with the built-in
// tasks, no user tasks and outcome reward only; without a Runner its
// environments are unavailable.
type Options struct {
	// Runner runs agent code. Nil makes New answer envs.ErrUnavailable.
	Runner Runner
	// Unavailable says why there is no Runner.
	Unavailable error
	// UserTasks are served under split "user".
	UserTasks []Task
	// Key is what hidden draws come from. Nil takes a random one, so that no
	// client can compute them; a fixed one makes them the same after a restart.
	Key []byte
	// StepReward is the weight, below 1, of a process reward: the change of
	// the share of hidden cases passed. It sums to zero over an episode.
	StepReward float64
	// RefusedWritePenalty is subtracted for every action that was flagged.
	RefusedWritePenalty float64
	// Naive is the teaching example: visible tests are writable and the exit
	// status of their run is the verdict. Its type is called NaiveName.
	Naive bool

	// Compact is the terse observation and action style of small policies.
	Compact bool
	// Source replaces the built-in tasks, and Identity what the type is called.
	Source   Source
	Identity Identity
	// Demo writes demonstrations for Source; nil takes those of this package.
	Demo Demonstrator
}

// Identity is a type's name and what the catalogue says of it.
type Identity struct {
	Name, Version, Summary string
}

// Type is the environment type.
type Type struct {
	opts     Options
	spec     envs.Spec
	tasks    *taskSet
	judge    *judge
	verifier envs.Verifier
}

var (
	_ envs.Type     = (*Type)(nil)
	_ envs.Scripted = (*Type)(nil)
	_ envs.Gated    = (*Type)(nil)
	_ envs.Forker   = (*env)(nil)
)

// New makes a Type.
func New(o Options) (*Type, error) {
	if !(o.StepReward >= 0 && o.StepReward < 1) || !(o.RefusedWritePenalty >= 0 && o.RefusedWritePenalty <= 1) {
		return nil, errors.New("codefix: a weight is out of range")
	}
	if o.Key == nil {
		o.Key = make([]byte, 32)
		rand.Read(o.Key) // never fails
	}
	if o.Source == nil {
		b, err := builtin()
		if err != nil {
			return nil, fmt.Errorf("codefix: %w", err)
		}
		if b, ok := b.(*bank); ok && o.Compact {
			o.Source = b.small()
		} else {
			o.Source = b
		}
	}
	if o.Identity.Name == "" {
		o.Identity = Identity{Name, version, "Repair a small Python program; hidden cases judge it."}
		switch {
		case o.Compact:
			o.Identity = Identity{CompactName, version, "Repair a small Python function in the terse style of small policies."}
		case o.Naive:
			o.Identity = Identity{NaiveName, version, "A teaching example that can be gamed: visible tests are writable and their exit status is the reward."}
		}
	}
	set, err := newTaskSet(o.Source, o.UserTasks)
	if err != nil {
		return nil, fmt.Errorf("codefix: %w", err)
	}
	t := &Type{opts: o, tasks: set, judge: newJudge(o.Runner, o.Key, o.Naive)}
	t.spec = t.describe()
	t.verifier = envs.Verifier{Name: "hidden-calls", Version: o.Identity.Version, Digest: t.spec.Digest}
	if o.Naive {
		t.verifier.Name = "visible-exit-status"
	}
	return t, nil
}

// Spec describes the type.
func (t *Type) Spec() envs.Spec { return t.spec }

// Tasks are the tasks of the type.
func (t *Type) Tasks() envs.TaskSet { return t.tasks }

// New makes an idle Env.
func (t *Type) New(context.Context) (envs.Env, error) {
	if t.opts.Runner == nil {
		why := t.opts.Unavailable
		if why == nil {
			why = errors.New("no sandbox")
		}
		return nil, fmt.Errorf("%w: %w", envs.ErrUnavailable, why)
	}
	return &env{typ: t}, nil
}

// Enter waits for a place in the sandbox, which all types that share it share.
func (t *Type) Enter(ctx context.Context) (leave func(), err error) {
	if g, ok := t.opts.Runner.(envs.Gated); ok {
		return g.Enter(ctx)
	}
	return func() {}, nil
}

func (t *Type) describe() envs.Spec {
	o := t.opts
	s := envs.Spec{
		Name: o.Identity.Name, Version: o.Identity.Version, Summary: o.Identity.Summary,
		Digest: t.tasks.digest(o), Tools: tools(), ActionHelp: actionHelp, ActionForms: fullForms(),
		Limits:    envs.Limits{MaxSteps: 20, WallTimeSeconds: 900, MaxObservationBytes: 12 << 10, MaxToolCalls: 60},
		MaxLimits: envs.Limits{MaxSteps: 200, WallTimeSeconds: 7200, MaxObservationBytes: 256 << 10, MaxToolCalls: 1000},
		RewardMin: 0, RewardMax: 1,
		RewardParts: []envs.PartSpec{{Name: partOutcome, Kind: envs.PartOutcome, Weight: 1, Help: "1 if every hidden case passes, else 0"}},
		Can:         envs.Capabilities{Seed: true, Snapshot: true, Replay: true, StepReward: o.StepReward > 0},
	}
	if o.Compact {
		s.ActionHelp = compactHelp
		s.ActionForms = append(compactForms(), s.ActionForms...)
		s.Limits.MaxSteps, s.Limits.MaxObservationBytes = 8, 2<<10
	}
	for _, split := range []string{envs.SplitTrain, envs.SplitValidation, envs.SplitTest, envs.SplitUser} {
		if n := t.tasks.Len(split); n > 0 {
			s.Splits = append(s.Splits, envs.SplitInfo{Name: split, Tasks: n})
		}
	}
	if o.Naive {
		s.RewardParts = []envs.PartSpec{
			{Name: partVisible, Kind: envs.PartOutcome, Weight: 1, Help: "1 if the visible tests, as the agent left them, exit with status 0"},
			{Name: partOutcome, Kind: envs.PartOutcome, Weight: 0, Help: "1 if every hidden case passes, else 0; measured and not paid"},
			{Name: partMeddled, Kind: envs.PartPenalty, Weight: 0, Help: "1 if a test or the test runner's configuration was changed; measured and not paid"},
		}
	}
	if o.StepReward > 0 {
		s.RewardMin -= o.StepReward
		s.RewardParts = append(s.RewardParts, envs.PartSpec{Name: partProgress, Kind: envs.PartProcess, Weight: o.StepReward, Help: "change of the share of hidden cases passed; sums to zero over an episode"})
	}
	if o.RefusedWritePenalty > 0 {
		s.RewardMin -= o.RefusedWritePenalty
		s.RewardParts = append(s.RewardParts, envs.PartSpec{Name: partRefused, Kind: envs.PartPenalty, Weight: o.RefusedWritePenalty, Help: "-1 for an action that raised an integrity flag"})
	}
	return s
}
