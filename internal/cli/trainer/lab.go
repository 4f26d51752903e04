package trainer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/client"
	"github.com/proctor-rl/proctor/trainer"
	"github.com/proctor-rl/proctor/trainer/policy"
	"github.com/proctor-rl/proctor/trainer/rl"
	"github.com/proctor-rl/proctor/trainer/rollout"
)

// lab runs one of the exercises.
func lab(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	const names = "react, group"
	if len(args) == 0 {
		return usage("name an exercise: %s", names)
	}
	switch args[0] {
	case "react":
		return labReact(ctx, args[1:], stdout, stderr)
	case "group":
		return labGroup(ctx, args[1:], stdout, stderr)
	case "-h", "--help":
		fmt.Fprintf(stdout, "usage: trainer lab <exercise> [flags]\n\nexercises: %s\n\nexample:\n  trainer lab group --proctor bin/proctor --k 4\n", names)
		return errHelp
	}
	return usage("no exercise %q: have %s", args[0], names)
}

// labFlags are shared by the exercises.
type labFlags struct {
	connection
	env   string
	index int
	seed  uint64
}

func (l *labFlags) register(f *flag.FlagSet) {
	f.StringVar(&l.server, "server", "", "address of a running server")
	f.StringVar(&l.program, "proctor", "bin/proctor", "proctor program to start a server with, where --server is not given")
	f.StringVar(&l.token, "token", os.Getenv("PROCTOR_TOKEN"), "bearer token of the server (default $PROCTOR_TOKEN)")
	f.StringVar(&l.env, "env", "react-mini", "environment type")
	f.IntVar(&l.index, "task", 0, "index of the task in the train split")
	f.Uint64Var(&l.seed, "seed", 1, "seed of the policy and its draws")
}

// labReact plays one episode with the stub policy, an untrained MLP over
// templates, and prints the history as it grows.
func labReact(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	var l labFlags
	f := newFlags("lab react", "A stub policy plays the tools of one task; the history it acts on is printed as it grows.\nThe stub picks among actions that the texts suggest, by chance.",
		"trainer lab react --proctor bin/proctor --task 3", stderr)
	l.register(f)
	if err := parse(f, args, stdout); err != nil {
		return err
	}
	_, stop, err := l.open(ctx, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	conn, err := client.Dial(ctx, l.server, client.Options{Token: l.token})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	env, err := conn.Create(ctx, api.CreateEnvRequest{Type: l.env})
	if err != nil {
		return err
	}
	reset, err := conn.Reset(ctx, env.EnvID, api.ResetRequest{Split: "train", Index: &l.index})
	if err != nil {
		return err
	}
	player := rollout.NewMLP(policy.NewMLP(policy.MLPConfig{Buckets: 1024, Hidden: 8}, l.seed))
	episode, _ := player.Begin(policy.StreamKey{Seed: l.seed}, policy.SampleConfig{Temperature: 1}, reset.Observation.Text)
	history := rollout.PromptText(reset.Observation.Text)
	fmt.Fprintf(stdout, "history (%d bytes):\n%s\n", len(history), indent(history))
	for step := 1; ; step++ {
		player.Step()
		action := player.Action(episode)
		r, err := conn.Step(ctx, env.EnvID, api.StepRequest{Action: api.TextAction(action)})
		if err != nil {
			return err
		}
		more := action + rollout.ObservationText(action, r.Observation.Text)
		history += more
		fmt.Fprintf(stdout, "step %d, history now %d bytes, added:\n%s\n", step, len(history), indent(more))
		if r.Done {
			if r.Return == nil {
				return fmt.Errorf("the episode failed on the server")
			}
			fmt.Fprintf(stdout, "%s after %d steps, return %g\n\nthe trajectory:\n%s", r.Status, step, *r.Return, indent(history))
			return nil
		}
		player.Observe(episode, r.Observation.Text)
	}
}

// labGroup plays one task several times and shows the advantages, worked out
// line by line beside the trainer's own.
func labGroup(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	var l labFlags
	f := newFlags("lab group", "Plays one task K times with one policy and works out group-relative advantages by hand\nbeside what the trainer computes. Without --run the policy is an untrained MLP.",
		"trainer lab group --proctor bin/proctor --k 4", stderr)
	l.register(f)
	k := f.Int("k", 4, "episodes in the group")
	run := f.String("run", "", "run folder to take the policy from")
	if err := parse(f, args, stdout); err != nil {
		return err
	}
	if *k < 2 {
		return usage("--k must be at least 2: one episode has nothing to be compared with")
	}
	catalogue, stop, err := l.open(ctx, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	opts := trainer.Options{Dir: *run, Catalogue: catalogue, Dial: l.dialer()}
	cfg := trainer.Default()
	cfg.Env.Type, cfg.Policy.Kind, cfg.Seed = l.env, "mlp", l.seed
	var t *trainer.Trainer
	if *run != "" {
		if cfg, err = trainer.RunConfig(*run); err != nil {
			return err
		}
		t, err = trainer.Judge(cfg, opts, "")
	} else {
		t, err = trainer.Untrained(cfg, opts)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	// Look for a task on which the episodes differ: equal rewards teach nothing.
	var episodes []rollout.Episode
	var rewards []float64
	var valid []bool
	for try := range 50 {
		if episodes, err = t.Group(ctx, cfg.Env.Train, l.index+try, *k, l.seed); err != nil {
			return err
		}
		g := rl.Group{}
		for i := range episodes {
			g.Members = append(g.Members, episodes[i].Trajectory())
		}
		if rewards, valid = g.Rewards(); rl.Spread(rewards, valid) {
			if try > 0 {
				fmt.Fprintf(stdout, "(tasks %d to %d gave equal rewards in every episode: advantage 0, nothing to learn)\n\n", l.index, l.index+try-1)
			}
			break
		}
	}
	for i := range episodes {
		e := &episodes[i]
		fmt.Fprintf(stdout, "episode %d: reward %g, %s\n%s\n", i+1, e.Reward, ending(e), indent(rollout.Text(e.Turns, e.Final)))
	}
	groupTable(stdout, rewards, valid)
	return nil
}

// groupTable prints the advantages of a group, by hand and by the trainer.
func groupTable(w io.Writer, rewards []float64, valid []bool) {
	n, sum := 0, 0.0
	for i, r := range rewards {
		if valid[i] {
			n++
			sum += r
		}
	}
	mean := sum / float64(max(n, 1))
	fmt.Fprintf(w, "by hand: mean = (sum of rewards) / %d = %.4f\n", n, mean)
	center, loo, std := make([]float64, len(rewards)), make([]float64, len(rewards)), make([]float64, len(rewards))
	rl.Center(center, rewards, valid)
	rl.LeaveOneOut(loo, rewards, valid)
	rl.Standardize(std, rewards, valid, 1, 1e-4)
	fmt.Fprintf(w, "%-8s %8s %22s %10s %14s %10s\n", "episode", "reward", "reward - mean, by hand", "trainer", "leave one out", "over std")
	for i, r := range rewards {
		if !valid[i] {
			fmt.Fprintf(w, "%-8d %8s   excluded: our side failed, so it moves neither the mean nor the policy\n", i+1, "null")
			continue
		}
		fmt.Fprintf(w, "%-8d %8.3f %22.4f %10.4f %14.4f %10.4f\n", i+1, r, r-mean, center[i], loo[i], std[i])
	}
	fmt.Fprintln(w, "The advantages of a group sum to zero: what one episode gains the others lose.")
}

func indent(s string) string {
	return "  | " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n  | ") + "\n"
}
