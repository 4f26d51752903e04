package trainer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/proctor-rl/proctor/trainer"
)

// errNoGain means that training did not do what the demonstration is for.
var errNoGain = errors.New("training did not beat its start")

// demo starts a server, trains the baseline and then the transformer, and says
// what came of it.
func demo(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	f := newFlags("demo", "Starts a server on a free loopback port, trains the MLP baseline from nothing and then a\ntransformer from demonstrations, and fails if training did not beat its start.",
		"trainer demo --proctor bin/proctor --seed 1", stderr)
	program := f.String("proctor", "bin/proctor", "proctor program")
	seed := f.Int64("seed", 1, "seed of everything")
	out := f.String("out", "", "folder for both runs (default runs/demo-<seed>)")
	recipes := f.String("recipes", "recipes", "folder with react-mini.yaml and react-demo.yaml")
	plain := f.Bool("plain", false, "lines instead of a live line")
	asJSON := f.Bool("json", false, "print both reports as JSON")
	var set list
	f.Var(&set, "set", "change a key of the transformer's recipe; may be repeated")
	if err := parse(f, args, stdout); err != nil {
		return err
	}
	if *out == "" {
		*out = filepath.Join("runs", fmt.Sprintf("demo-%d", *seed))
	}
	if err := os.RemoveAll(*out); err != nil {
		return fmt.Errorf("clear %s: %w", *out, err)
	}
	begun := time.Now()
	server, err := startServer(ctx, *program, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	say := stdout
	if *asJSON {
		say = stderr
	}
	fmt.Fprintf(say, "server at %s (open it to watch)\n", server.url)
	part := func(title, recipe string, set list) (trainer.Report, error) {
		fmt.Fprintf(say, "\n== %s\n", title)
		t := trainFlags{
			connection: connection{server: server.url, program: *program}, recipe: filepath.Join(*recipes, recipe+".yaml"),
			out: filepath.Join(*out, recipe), resume: "never", seed: *seed, plain: *plain, set: set,
		}
		return t.run(ctx, stderr, (*trainer.Trainer).Run)
	}
	mlp, err := part("MLP over templated actions, GRPO from nothing", "react-mini", nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(say, "%s", mlp.Text())
	lm, err := part("transformer: demonstrations, then GRPO", "react-demo", set)
	if err != nil {
		return err
	}
	fmt.Fprintf(say, "%s", lm.Text())
	if *asJSON {
		if err := printJSON(stdout, map[string]trainer.Report{"mlp": mlp, "transformer": lm}); err != nil {
			return err
		}
	}
	fmt.Fprintf(say, "\n== held-out success, unseen names, 95 %% intervals\n")
	table(say, "MLP", mlp)
	table(say, "transformer", lm)
	fmt.Fprintf(say, "\ncurves:  %s\n         %s\n", filepath.Join(mlp.Dir, "curve.png"), filepath.Join(lm.Dir, "curve.png"))
	samples, err := filepath.Glob(filepath.Join(lm.Dir, "samples", "final_*.txt"))
	if err != nil {
		return err
	}
	for _, s := range samples {
		fmt.Fprintf(say, "sample:  %s\n", s)
	}
	fmt.Fprintf(say, "took %s\n", time.Since(begun).Round(time.Second))
	return verdict(mlp, lm)
}

func table(w io.Writer, name string, r trainer.Report) {
	for _, d := range []string{trainer.Greedy, trainer.Sampled} {
		fmt.Fprintf(w, "  %-12s %-8s %s -> %s\n", name, d, r.Start.Overall[d], r.Final.Overall[d])
	}
}

// verdict is an error unless the baseline learned and the transformer's success
// at temperature 1 rose beyond its intervals without losing greedy success.
func verdict(mlp, lm trainer.Report) error {
	if !trainer.Compare(mlp.Start, mlp.Final, trainer.Sampled).Separate {
		return fmt.Errorf("MLP: %w", errNoGain)
	}
	if !trainer.Compare(lm.Start, lm.Final, trainer.Sampled).Separate {
		return fmt.Errorf("transformer at temperature 1: %w", errNoGain)
	}
	if g := trainer.Compare(lm.Start, lm.Final, trainer.Greedy); g.High < 0 {
		return fmt.Errorf("transformer, greedy: %w", errNoGain)
	}
	return nil
}
