package trainer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
	fmt.Fprintf(say, "took %s\n\n", time.Since(begun).Round(time.Second))
	return verdict(say, mlp, lm)
}

func table(w io.Writer, name string, r trainer.Report) {
	for _, d := range []string{trainer.Greedy, trainer.Sampled} {
		fmt.Fprintf(w, "  %-12s %-8s %-8s %s -> %s\n", name, d, "all", r.Start.Overall[d], r.Final.Overall[d])
		by := r.Final.Slices[d]
		if len(by) < 2 {
			continue
		}
		for _, s := range slices.Sorted(maps.Keys(by)) {
			fmt.Fprintf(w, "  %-12s %-8s %-8s %s -> %s\n", "", "", s, r.Start.Slices[d][s], by[s])
		}
	}
}

// verdict says of each policy what training did, in points of held-out success,
// and is an error unless the baseline and the transformer both rose at
// temperature 1 beyond their 95 % intervals and the transformer's greedy success
// is no lower than its warm start's.
func verdict(w io.Writer, mlp, lm trainer.Report) error {
	var missed []error
	line := func(name, what, decoding string, r trainer.Report, ok bool) {
		word := "yes"
		if !ok {
			word = "NO"
			missed = append(missed, fmt.Errorf("%s, %s: %w", name, decoding, errNoGain))
		}
		gain := 100 * (r.Final.Overall[decoding].Rate - r.Start.Overall[decoding].Rate)
		fmt.Fprintf(w, "  %-12s %-8s %+6.1f points   %s: %s\n", name, decoding, gain, what, word)
	}
	c := trainer.Compare(mlp.Start, mlp.Final, trainer.Sampled)
	line("MLP", "up, intervals apart", trainer.Sampled, mlp, c.Separate)
	c = trainer.Compare(lm.Start, lm.Final, trainer.Sampled)
	line("transformer", "up, intervals apart", trainer.Sampled, lm, c.Separate)
	c = trainer.Compare(lm.Start, lm.Final, trainer.Greedy)
	line("transformer", "not below its warm start", trainer.Greedy, lm, c.NotLowerThan)
	fmt.Fprintf(w, "  the MLP took %.0f s, the transformer %.0f s\n", mlp.Seconds, lm.Seconds)
	return errors.Join(missed...)
}
