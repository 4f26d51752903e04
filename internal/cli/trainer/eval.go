package trainer

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/proctor-rl/proctor/trainer"
	"github.com/proctor-rl/proctor/trainer/rollout"
)

// runFlags choose a policy of a run and a server.
type runFlags struct {
	connection
	run   string
	which string
	split string
	json  bool
	seed  uint64
	set   list
}

func (r *runFlags) register(f *flag.FlagSet) {
	f.StringVar(&r.run, "run", "", "run folder")
	f.StringVar(&r.which, "policy", "", "folder in it: final, best, warm or ckpt/<name> (default the first that is there)")
	f.StringVar(&r.server, "server", "", "address of a running server")
	f.StringVar(&r.program, "proctor", "", "proctor program to start a server with, where --server is not given")
	f.StringVar(&r.token, "token", os.Getenv("PROCTOR_TOKEN"), "bearer token of the server (default $PROCTOR_TOKEN)")
	f.StringVar(&r.split, "split", "test", "split to take tasks from")
	f.Uint64Var(&r.seed, "seed", 1, "seed of the random draws")
	f.BoolVar(&r.json, "json", false, "print JSON")
	f.Var(&r.set, "set", "change a key of the run's configuration; may be repeated")
}

// with loads the policy and hands it to work.
func (r *runFlags) with(ctx context.Context, stderr io.Writer, work func(*trainer.Trainer, trainer.Config) error) (err error) {
	if r.run == "" {
		return usage("name a run with --run FOLDER")
	}
	cfg, err := trainer.RunConfig(r.run)
	if err != nil {
		return err
	}
	for _, s := range r.set {
		if err := cfg.Set(s); err != nil {
			return usageError{err}
		}
	}
	cfg.Seed = r.seed
	api, stop, err := r.open(ctx, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	t, err := trainer.Judge(cfg, trainer.Options{Dir: r.run, Catalogue: api, Dial: r.dialer()}, r.which)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	return work(t, cfg)
}

func evaluate(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var r runFlags
	f := newFlags("eval", "Judges the policy of a run on held-out tasks, greedily and at temperature 1, with 95 %\nintervals, by slice and by kind of task.",
		"trainer eval --run runs/react-1 --server http://127.0.0.1:8080 --tasks 400", stderr)
	r.register(f)
	tasks := f.Int("tasks", 200, "tasks of each slice")
	skip := f.Int("skip", 0, "tasks of each slice to leave out first, such as those that a recipe was chosen on")
	if err := parse(f, args, stdout); err != nil {
		return err
	}
	if err := r.check(f); err != nil {
		return err
	}
	return r.with(ctx, stderr, func(t *trainer.Trainer, _ trainer.Config) error {
		ev, err := t.Evaluate(ctx, r.split, *skip, *tasks)
		if err != nil {
			return err
		}
		if r.json {
			return printJSON(stdout, ev)
		}
		fmt.Fprintln(stdout, ev.Text())
		return nil
	})
}

func sample(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var r runFlags
	f := newFlags("sample", "Plays a few episodes with the policy of a run and shows them.",
		"trainer sample --run runs/react-1 --server http://127.0.0.1:8080 --n 3 --temperature 0", stderr)
	r.register(f)
	n := f.Int("n", 3, "episodes")
	first := f.Int("first", 0, "index of the first task in the split")
	temperature := f.Float64("temperature", 1, "0 is greedy")
	if err := parse(f, args, stdout); err != nil {
		return err
	}
	if err := r.check(f); err != nil {
		return err
	}
	if *n < 1 || *first < 0 || *temperature < 0 {
		return usage("--n must be at least 1, --first and --temperature not negative")
	}
	return r.with(ctx, stderr, func(t *trainer.Trainer, _ trainer.Config) error {
		episodes, _, err := t.Sample(ctx, r.split, *first, *n, *temperature, r.seed)
		if err != nil {
			return err
		}
		enc := json.NewEncoder(stdout)
		for i := range episodes {
			e := &episodes[i]
			if r.json {
				if err := enc.Encode(e); err != nil {
					return err
				}
				continue
			}
			fmt.Fprintf(stdout, "--- task %s: reward %g, %s\n%s\n", e.TaskID, e.Reward, ending(e), strings.TrimRight(rollout.Text(e.Turns, e.Final), "\n"))
		}
		return nil
	})
}

// ending says how an episode ended.
func ending(e *rollout.Episode) string {
	switch {
	case !e.Valid:
		return "excluded: " + e.Failure
	case e.StopReason != "":
		return e.Status + " by " + e.StopReason
	}
	return e.Status
}
