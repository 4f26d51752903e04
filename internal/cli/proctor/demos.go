// Package proctor is the body of the proctor command: one file per subcommand.
// Each writes results to stdout and words to stderr and returns an exit code.
package proctor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/all"
)

// demoEpisode is one line of a demonstration file: what was seen and done,
// and how it ended.
type demoEpisode struct {
	EnvType          string         `json:"env_type"`
	EnvVersion       string         `json:"env_version"`
	TaskID           string         `json:"task_id"`
	Split            string         `json:"split"`
	Seed             int64          `json:"seed"`
	Public           map[string]any `json:"public"`
	Reward           float64        `json:"reward"`
	Score            float64        `json:"score"`
	Status           string         `json:"status"`
	Turns            []demoTurn     `json:"turns"`
	FinalObservation string         `json:"final_observation"`
}

type demoTurn struct {
	Observation string `json:"observation"`
	Action      string `json:"action"`
}

const demosHelp = `usage: proctor demos --env TYPE [flags]

Plays the deliberately imperfect demonstrators of an environment type in this
process and writes one episode a line. Equal flags give equal bytes.

example: proctor demos --env react-compact --split train --n 20000 --noise 0.2 --seed 1 --out demos.jsonl

`

// demos is the subcommand of that name.
func demos(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("demos", flag.ContinueOnError)
	fs.SetOutput(stderr)
	var (
		env    = fs.String("env", "", "environment type")
		split  = fs.String("split", envs.SplitTrain, "split to take tasks from")
		n      = fs.Int("n", 1000, "number of episodes")
		noise  = fs.Float64("noise", 0.2, "how often the demonstrator errs, 0 to 1")
		script = fs.String("script", "demo", "which script plays: demo, perfect, lazy or cheat")
		seed   = fs.Uint64("seed", 1, "seed of tasks and errors")
		out    = fs.String("out", "", "file to write, stdout if empty or -")
		tasks  = fs.String("tasks", "", "folder of a user's tasks")
	)
	var opts all.Options
	worldFlags(fs, &opts)
	if code, ok := parse(fs, args, demosHelp, stdout); !ok {
		return code
	}
	switch {
	case fs.NArg() > 0:
		return misuse(fs, "unexpected argument %q", fs.Arg(0))
	case *env == "":
		return misuse(fs, "name an environment type with --env TYPE")
	case *n < 1 || *noise < 0 || *noise > 1:
		return misuse(fs, "--n must be at least 1 and --noise between 0 and 1")
	}
	generated := strings.HasPrefix(*env, "react") && *env != "react-almanac"
	switch {
	case idle(fs, "noise") != "" && *script != "demo":
		return misuse(fs, "--noise does nothing with --script %s", *script)
	case idle(fs, "world-size") != "" && *env != "react":
		return misuse(fs, "--world-size does nothing with --env %s", *env)
	case idle(fs, "world-seed") != "" && !generated:
		return misuse(fs, "--world-seed does nothing with --env %s", *env)
	}
	if err := checkWorld(opts); err != nil {
		return misuse(fs, "%v", err)
	}
	var reg envs.Registry
	box := &lateSandbox{}
	defer box.Close() //nolint:errcheck // every episode is written
	opts.TasksDir, opts.Runner, opts.Interpret = *tasks, box, true
	if err := all.Register(&reg, opts); err != nil {
		fmt.Fprintln(stderr, "proctor demos:", err)
		return exitFail
	}
	t, err := reg.Get(*env)
	if err != nil {
		fmt.Fprintln(stderr, "proctor demos:", err)
		return exitUsage
	}
	d := demoRun{t: t, split: *split, n: *n, noise: *noise, script: *script, seed: *seed}
	if err := d.write(ctx, *out, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "proctor demos:", err)
		return exitFail
	}
	return exitOK
}

type demoRun struct {
	t      envs.Type
	split  string
	n      int
	noise  float64
	script string
	seed   uint64
}

// write plays the episodes into a file or to stdout and tells stderr the share
// of successes.
func (d demoRun) write(ctx context.Context, path string, stdout, stderr io.Writer) (err error) {
	w := stdout
	if path != "" && path != "-" {
		f, e := os.Create(path)
		if e != nil {
			return fmt.Errorf("create demonstrations: %w", e)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		w = f
	}
	buf := bufio.NewWriter(w)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	solved := 0
	var pace *progress // from the first episode on: before that it may be refused
	err = d.play(ctx, func(e demoEpisode) error {
		if pace == nil {
			pace = newProgress(stderr, "demos", "episodes", d.n, time.Now)
		}
		pace.step()
		if e.Score == 1 {
			solved++
		}
		return enc.Encode(e)
	})
	if err != nil {
		return err
	}
	if err := buf.Flush(); err != nil {
		return fmt.Errorf("write demonstrations: %w", err)
	}
	fmt.Fprintf(stderr, "%d episodes of %s, %.1f %% solved\n", d.n, d.t.Spec().Name, 100*float64(solved)/float64(d.n))
	return nil
}

// demoJob is one episode to play and where its outcome goes.
type demoJob struct {
	start envs.Start
	index int
	out   chan demoResult // holds one
}

type demoResult struct {
	episode demoEpisode
	err     error
}

// play plays n episodes: a shuffled walk over the split, again from its start
// when it is used up. Several are played at once and emitted in order.
func (d demoRun) play(ctx context.Context, emit func(demoEpisode) error) error {
	player, ok := d.t.(envs.Scripted)
	if !ok {
		return fmt.Errorf("%s has no scripts", d.t.Spec().Name)
	}
	size := d.t.Tasks().Len(d.split)
	if size == 0 {
		var have []string
		for _, s := range d.t.Spec().Splits {
			have = append(have, s.Name)
		}
		return fmt.Errorf("%s has no split %q; have %s", d.t.Spec().Name, d.split, strings.Join(have, ", "))
	}
	ctx, cancel := context.WithCancel(ctx)
	workers := min(runtime.GOMAXPROCS(0), d.n)
	todo, inOrder := make(chan demoJob), make(chan demoJob, 4*workers)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for range workers {
		wg.Go(func() {
			for j := range todo {
				e, err := d.episode(ctx, player, j)
				j.out <- demoResult{e, err}
			}
		})
	}
	wg.Go(func() {
		defer close(todo)
		defer close(inOrder)
		rng := rand.New(rand.NewPCG(d.seed, 0xde40))
		order := rng.Perm(size)
		for i := range d.n {
			j := demoJob{index: order[i%size], out: make(chan demoResult, 1)}
			j.start = envs.Start{Seed: int64(rng.Uint64() >> 1), Limits: d.t.Spec().Limits}
			for _, to := range []chan demoJob{todo, inOrder} {
				select {
				case to <- j:
				case <-ctx.Done():
					return
				}
			}
		}
	})
	i := 0
	for j := range inOrder {
		r := <-j.out
		if r.err != nil {
			return fmt.Errorf("episode %d: %w", i, r.err)
		}
		if err := emit(r.episode); err != nil {
			return fmt.Errorf("write episode %d: %w", i, err)
		}
		i++
	}
	return ctx.Err()
}

// episode plays one job.
func (d demoRun) episode(ctx context.Context, player envs.Scripted, j demoJob) (e demoEpisode, err error) {
	if j.start.Task, err = d.t.Tasks().At(d.split, j.index); err != nil {
		return e, fmt.Errorf("task %d: %w", j.index, err)
	}
	s, err := player.Script(d.script, j.start.Task, d.noise, rand.New(rand.NewPCG(uint64(j.start.Seed), 1)))
	if err != nil {
		return e, err
	}
	env, err := d.t.New(ctx)
	if err != nil {
		return e, fmt.Errorf("make %s: %w", d.t.Spec().Name, err)
	}
	defer env.Close() //nolint:errcheck // nothing is left to report once the episode is out
	return playEpisode(ctx, d.t.Spec(), env, s, j.start)
}

// playEpisode plays one episode to its end or to the step limit.
func playEpisode(ctx context.Context, spec envs.Spec, env envs.Env, s envs.Script, start envs.Start) (demoEpisode, error) {
	e := demoEpisode{
		EnvType: spec.Name, EnvVersion: spec.Version, TaskID: start.Task.ID,
		Split: start.Task.Split, Seed: start.Seed, Public: start.Task.Public,
	}
	obs, err := env.Reset(ctx, start)
	if err != nil {
		return e, fmt.Errorf("reset: %w", err)
	}
	for {
		a := s.Act(obs)
		e.Turns = append(e.Turns, demoTurn{obs.Text, a.Text})
		o, err := env.Step(ctx, a)
		if err != nil {
			return e, fmt.Errorf("step %d: %w", len(e.Turns)-1, err)
		}
		e.Reward += o.Reward
		e.Status = "terminated"
		if !o.Terminated && len(e.Turns) >= start.Limits.MaxSteps {
			if o, err = env.Score(ctx); err != nil {
				return e, fmt.Errorf("score: %w", err)
			}
			e.Reward += o.Reward
			e.Status = "truncated"
		}
		if o.Grade != nil {
			e.Score = o.Grade.Score
			e.FinalObservation = o.Observation.Text
			return e, nil
		}
		obs = o.Observation
	}
}
