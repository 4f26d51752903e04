package trainer

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/trainer/algo"
	"github.com/proctor-rl/proctor/trainer/optim"
	"github.com/proctor-rl/proctor/trainer/policy"
	"github.com/proctor-rl/proctor/trainer/rollout"
	"github.com/proctor-rl/proctor/trainer/token"
)

// Catalogue is what a Trainer asks a server besides playing; *client.Client is
// one.
type Catalogue interface {
	EnvType(ctx context.Context, name string) (api.EnvType, error)
	Tasks(ctx context.Context, envType, split string, max int) ([]api.Task, error)
	StartRun(ctx context.Context, name string, labels map[string]string) (string, error)
	PushPoints(ctx context.Context, runID string, points []api.Point) error
}

// Options are what a Trainer needs beside its configuration.
type Options struct {
	Dir       string // run folder, made if it is not there
	Demos     string // demonstration file, needed for a warm start or a fresh tokenizer
	Resume    bool   // continue from the newest checkpoint in Dir
	From      string // run folder whose final policy this run starts from, instead of a warm start
	StopAfter int    // stop cleanly after so many updates in all, as if interrupted; 0 is off

	Catalogue Catalogue
	Dial      func(context.Context) (rollout.Conn, error)

	Log        *slog.Logger
	Progress   io.Writer // nil shows nothing
	Plain      bool
	Registerer prometheus.Registerer // nil exports nothing
	Now        func() time.Time      // nil is the clock
}

// Trainer is one run.
type Trainer struct {
	cfg  Config
	opts Options
	dir  string

	catalogue Catalogue
	collector *rollout.Collector
	log       *slog.Logger
	progress  *progress
	metrics   *metrics
	now       func() time.Time

	model     *model
	step      *optim.Stepper
	algorithm algo.Algorithm
	average   *average // nil unless rl.average
	demos     []Demo
	trainSize int
	state     State
	recorder  *recorder
	runID     string
	started   time.Time
	earlier   float64 // seconds spent before this process
}

// New prepares a run. It reads no network and starts nothing.
func New(cfg Config, opts Options) (*Trainer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	t := &Trainer{
		cfg: cfg, opts: opts, dir: opts.Dir, catalogue: opts.Catalogue, log: opts.Log, now: opts.Now,
		progress: &progress{w: opts.Progress, plain: opts.Plain}, metrics: newMetrics(opts.Registerer),
	}
	t.collector = rollout.New(rollout.Config{EnvType: cfg.Env.Type, Live: cfg.Env.Live, Retries: cfg.Env.Retries, MaxSteps: cfg.Env.MaxSteps}, opts.Dial, opts.Log)
	return t, nil
}

// Close ends the connections of the run.
func (t *Trainer) Close() error { return t.collector.Close() }

// open makes the run folder and the policy, from a checkpoint or afresh.
func (t *Trainer) open(ctx context.Context) error {
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return fmt.Errorf("make run folder: %w", err)
	}
	spec, err := t.catalogue.EnvType(ctx, t.cfg.Env.Type)
	if err != nil {
		return fmt.Errorf("environment type %s: %w", t.cfg.Env.Type, err)
	}
	for _, s := range spec.Splits {
		if s.Name == t.cfg.Env.Train {
			t.trainSize = s.Tasks
		}
	}
	if t.trainSize == 0 {
		return fmt.Errorf("environment type %s has no tasks in split %q", t.cfg.Env.Type, t.cfg.Env.Train)
	}
	state, at, resumed, err := readState(t.dir)
	if err != nil {
		return err
	}
	switch {
	case resumed && !t.opts.Resume:
		return fmt.Errorf("run folder %s holds a run: resume it or choose another", t.dir)
	case resumed:
		err = t.restore(state, at)
	default:
		err = t.fresh()
	}
	if err != nil {
		return err
	}
	yaml, err := t.cfg.YAML()
	if err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(t.dir, "config.resolved.yaml"), func(w io.Writer) error {
		_, err := w.Write(yaml)
		return err
	}); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	if t.recorder, err = openRecorder(t.dir, t.state); err != nil {
		return err
	}
	t.earlier = t.state.Seconds
	// The page is a convenience: a server without it must not stop a run.
	id, err := t.catalogue.StartRun(ctx, t.cfg.Name, map[string]string{"env": t.cfg.Env.Type, "algorithm": t.cfg.RL.Algo.Name, "policy": t.cfg.Policy.Kind})
	if err != nil {
		t.log.WarnContext(ctx, "run not announced to the server", "err", err)
	}
	t.runID = id
	return nil
}

// fresh makes a new policy.
func (t *Trainer) fresh() error {
	t.state = State{Phase: "sft"}
	if t.opts.From != "" {
		return t.startFrom(t.opts.From)
	}
	var tok *token.Tokenizer
	if t.cfg.Policy.Kind == "transformer" {
		if err := t.readDemos(); err != nil {
			return err
		}
		tok = tokenizer(t.demos, t.cfg.Policy.VocabDemos, t.cfg.Policy.Vocab)
	}
	m, err := newModel(t.cfg, tok)
	if err != nil {
		return err
	}
	t.model = m
	t.step = t.cfg.SFT.Adam.stepper(m, t.cfg.SFT.CopySteps+t.cfg.SFT.Steps)
	return nil
}

func (t *Trainer) readDemos() (err error) {
	if t.demos != nil {
		return nil
	}
	if t.opts.Demos == "" {
		return fmt.Errorf("a transformer needs demonstrations: write some with \"proctor demos\" and name the file with --demos")
	}
	t.demos, err = ReadDemos(t.opts.Demos, t.cfg.Env.Type, t.cfg.Env.Train, t.cfg.SFT.Success, t.cfg.SFT.Limit)
	return err
}

// loadPolicy reads the policy and tokenizer of a checkpoint folder.
func loadPolicy(c Config, at string) (*model, error) {
	var tok *token.Tokenizer
	if c.Policy.Kind == "transformer" {
		f, err := os.Open(filepath.Join(at, tokensFile))
		if err != nil {
			return nil, fmt.Errorf("load policy: %w", err)
		}
		tok, err = token.Load(f)
		_ = f.Close() // only read from
		if err != nil {
			return nil, fmt.Errorf("load policy: %w", err)
		}
	}
	m, err := newModel(c, tok)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(at, policyFile))
	if err != nil {
		return nil, fmt.Errorf("load policy: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read from
	p, err := loadTrainable(m.kind, f)
	if err != nil {
		return nil, err
	}
	return m, m.setParams(p)
}

// startFrom takes up the policy that another run warmed up or trained.
func (t *Trainer) startFrom(run string) error {
	at := filepath.Join(run, "warm")
	if _, err := os.Stat(at); err != nil {
		at = run
	}
	m, err := loadPolicy(t.cfg, at)
	if err != nil {
		return err
	}
	t.model = m
	t.step = t.cfg.SFT.Adam.stepper(m, 1)
	t.state.Step = t.cfg.SFT.CopySteps + t.cfg.SFT.Steps // the warm start is done
	return nil
}

// restore continues from a checkpoint.
func (t *Trainer) restore(s State, at string) error {
	m, err := loadPolicy(t.cfg, at)
	if err != nil {
		return fmt.Errorf("resume %s: %w", at, err)
	}
	if got := paramsHash(m); got != s.Params {
		return fmt.Errorf("resume %s: parameters do not match their hash", at)
	}
	t.model, t.state = m, s
	if s.Phase == "sft" {
		t.step = t.cfg.SFT.Adam.stepper(m, t.cfg.SFT.CopySteps+t.cfg.SFT.Steps)
		if t.cfg.Policy.Kind == "transformer" && t.opts.Demos != "" {
			if err := t.readDemos(); err != nil {
				return err
			}
		}
	} else {
		if err := t.startRL(); err != nil {
			return err
		}
		if t.average != nil {
			if t.average, err = readAverage(at, m.Params()); err != nil {
				return fmt.Errorf("resume %s: %w", at, err)
			}
		}
	}
	if err := readOptimizer(filepath.Join(at, optimFile), t.step.Adam); err != nil {
		return fmt.Errorf("resume %s: %w", at, err)
	}
	return nil
}

// startRL makes optimizer, reference and algorithm of the second phase.
func (t *Trainer) startRL() error {
	t.step = t.cfg.RL.Adam.stepper(t.model, t.cfg.RL.Updates*t.cfg.RL.stepsPerUpdate())
	var a algo.Algorithm
	if t.cfg.RL.Algo.NeedsReference() {
		// The reference is what the phase started from, also after a resume.
		f, err := os.Open(filepath.Join(t.dir, "warm", policyFile))
		if err != nil {
			return fmt.Errorf("reference policy: %w", err)
		}
		ref, err := loadTrainable(t.model.kind, f)
		_ = f.Close() // only read from
		if err != nil {
			return fmt.Errorf("reference policy: %w", err)
		}
		hash := paramsHash(ref)
		if t.state.Reference != "" && t.state.Reference != hash {
			return fmt.Errorf("reference policy: not the one this run started with")
		}
		t.state.Reference = hash
		if m, ok := ref.(*policy.MLP); ok {
			if own, ok := t.model.Trainable.(*policy.MLP); ok { // as it is: both are of one kind
				m.ShareDecisions(own)
			}
		}
		if a, err = algo.New(t.cfg.RL.Algo, t.model, ref, t.step, t.cfg.RL.Temperature, t.model.context); err != nil {
			return err
		}
	} else {
		var err error
		if a, err = algo.New(t.cfg.RL.Algo, t.model, nil, t.step, t.cfg.RL.Temperature, t.model.context); err != nil {
			return err
		}
	}
	if s, ok := a.(stateful); ok {
		s.SetState(t.state.Algorithm)
	}
	t.algorithm = a
	if t.cfg.RL.Average {
		t.average = newAverage(t.model.Params())
	}
	return nil
}

// saveWarm keeps the policy that reinforcement learning starts from.
func (t *Trainer) saveWarm() error {
	files := map[string]func(io.Writer) error{policyFile: t.model.save, stateFile: writeJSON(t.state)}
	if t.model.tokens != nil {
		files[tokensFile] = t.model.tokens.Save
	}
	if err := writeDir(filepath.Join(t.dir, "warm"), files); err != nil {
		return fmt.Errorf("save warm start: %w", err)
	}
	return nil
}

// seconds is the time the run has taken, over all its processes.
func (t *Trainer) seconds() float64 { return t.earlier + t.now().Sub(t.started).Seconds() }
