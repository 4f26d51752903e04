package trainer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/proctor-rl/proctor/client"
	"github.com/proctor-rl/proctor/trainer"
)

// trainFlags are the flags of train and sft.
type trainFlags struct {
	connection
	recipe  string
	demos   string
	out     string
	resume  string
	from    string
	seed    int64
	set     list
	json    bool
	plain   bool
	quiet   bool
	verbose bool
	listen  string
	stopAt  int
	profile string
}

func (t *trainFlags) register(f *flag.FlagSet) {
	f.StringVar(&t.recipe, "recipe", "", "recipe file (YAML)")
	f.StringVar(&t.server, "server", "", "address of a running server, such as http://127.0.0.1:8080")
	f.StringVar(&t.program, "proctor", "", "proctor program to start a server and write demonstrations with, where --server or --demos is not given")
	f.StringVar(&t.token, "token", os.Getenv("PROCTOR_TOKEN"), "bearer token of the server (default $PROCTOR_TOKEN)")
	f.StringVar(&t.demos, "demos", "", "demonstration file (JSON lines)")
	f.StringVar(&t.out, "out", "", "run folder (default runs/<name>-<seed>)")
	f.StringVar(&t.resume, "resume", "auto", "auto: go on with what the run folder holds; never: refuse to")
	f.StringVar(&t.from, "from", "", "run folder to start from: its warm start, or the policy in a folder such as runs/x/final")
	f.Int64Var(&t.seed, "seed", -1, "seed of the run (default the recipe's)")
	f.Var(&t.set, "set", "change a key of the recipe, such as rl.tasks=16; may be repeated")
	f.BoolVar(&t.json, "json", false, "print the report as JSON")
	f.BoolVar(&t.plain, "plain", false, "lines instead of a live line")
	f.BoolVar(&t.quiet, "quiet", false, "show no progress")
	f.BoolVar(&t.verbose, "verbose", false, "log at debug level")
	f.StringVar(&t.listen, "metrics", "", "serve Prometheus metrics at this address, such as 127.0.0.1:9091")
	f.StringVar(&t.profile, "cpuprofile", "", "write a processor profile of the run to this file, for go tool pprof and tools/profile.sh")
	f.IntVar(&t.stopAt, "stop-after", 0, "stop after so many updates, as if interrupted; 0 is off")
}

// check refuses flags that do nothing.
func (t *trainFlags) check(f *flag.FlagSet) error {
	switch { // of --proctor, which also writes demonstrations
	case t.server == "":
		if err := idle(f, "without --server", "token"); err != nil {
			return err
		}
	case t.demos != "":
		if err := idle(f, "with --server and --demos", "proctor"); err != nil {
			return err
		}
	case t.from != "":
		if err := idle(f, "with --server and --from", "proctor"); err != nil {
			return err
		}
	}
	if t.quiet {
		return idle(f, "with --quiet", "plain")
	}
	return nil
}

func train(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var t trainFlags
	f := newFlags("train", "Warms a policy up on demonstrations and trains it against a server. Everything about\nthe run goes into its folder; a run that was stopped goes on where it was.",
		"trainer train --recipe recipes/react.yaml --server http://127.0.0.1:8080 --demos demos.jsonl --seed 1", stderr)
	t.register(f)
	if err := parse(f, args, stdout); err != nil {
		return err
	}
	if err := t.check(f); err != nil {
		return err
	}
	report, err := t.run(ctx, stderr, (*trainer.Trainer).Run)
	if errors.Is(err, trainer.ErrStopped) && t.stopAt > 0 && ctx.Err() == nil {
		fmt.Fprintf(stdout, "stopped after %d updates in %s\n", t.stopAt, t.out)
		return nil
	}
	if err != nil {
		return err
	}
	return t.print(stdout, report)
}

func warmUp(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var t trainFlags
	f := newFlags("sft", "Makes the supervised warm start of a recipe and judges it.",
		"trainer sft --recipe recipes/react.yaml --server http://127.0.0.1:8080 --demos demos.jsonl --out runs/warm", stderr)
	t.register(f)
	if err := parse(f, args, stdout); err != nil {
		return err
	}
	if err := cmp.Or(t.check(f), idle(f, "in a warm start", "stop-after")); err != nil {
		return err
	}
	report, err := t.run(ctx, stderr, (*trainer.Trainer).WarmUp)
	if err != nil {
		return err
	}
	if t.json {
		return printJSON(stdout, report)
	}
	fmt.Fprintf(stdout, "warm start in %s after %.0fs\n%s\n", report.Dir, report.Seconds, report.Start.Text())
	return nil
}

func (t *trainFlags) print(w io.Writer, r trainer.Report) error {
	if t.json {
		return printJSON(w, r)
	}
	_, err := fmt.Fprintf(w, "%scurve: %s\nsamples: %s\n", r.Text(), filepath.Join(r.Dir, "curve.png"), filepath.Join(r.Dir, "samples"))
	return err
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// run reads the recipe, finds or starts the server, gets demonstrations and
// does the work.
func (t *trainFlags) run(ctx context.Context, stderr io.Writer, work func(*trainer.Trainer, context.Context) (trainer.Report, error)) (report trainer.Report, err error) {
	if t.recipe == "" {
		return report, usage("name a recipe with --recipe FILE")
	}
	if t.resume != "auto" && t.resume != "never" {
		return report, usage("--resume %s: have auto, never", t.resume)
	}
	cfg, err := trainer.ReadConfig(t.recipe, t.set)
	if err != nil {
		return report, usageError{err}
	}
	if t.seed >= 0 {
		cfg.Seed = uint64(t.seed)
	}
	if t.out == "" {
		t.out = filepath.Join("runs", fmt.Sprintf("%s-%d", cfg.Name, cfg.Seed))
	}
	api, stop, err := t.open(ctx, stderr)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := t.getDemos(ctx, cfg, stderr); err != nil {
		return report, err
	}
	opts, closeMetrics, err := t.options(ctx, api, stderr)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, closeMetrics()) }()
	tr, err := trainer.New(cfg, opts)
	if err != nil {
		return report, usageError{err}
	}
	defer func() { err = errors.Join(err, tr.Close()) }()
	stopProfile, err := startProfile(t.profile)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, stopProfile()) }()
	return work(tr, ctx)
}

// getDemos has demonstrations written where the recipe needs some and none
// are named.
func (t *trainFlags) getDemos(ctx context.Context, cfg trainer.Config, stderr io.Writer) error {
	if cfg.Policy.Kind != "transformer" || t.demos != "" || t.from != "" {
		return nil
	}
	path := filepath.Join(t.out, "demos.jsonl")
	if _, err := os.Stat(path); err == nil {
		t.demos = path
		return nil
	}
	if t.program == "" {
		return usage("name demonstrations with --demos FILE, or the proctor program with --proctor PATH")
	}
	if err := os.MkdirAll(t.out, 0o755); err != nil {
		return fmt.Errorf("make run folder: %w", err)
	}
	tmp := path + ".tmp"
	if err := writeDemos(ctx, t.program, cfg.Env.Type, cfg.Env.Train, cfg.SFT.Demos, cfg.SFT.Noise, cfg.Seed, tmp, stderr); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("write demonstrations: %w", err)
	}
	t.demos = path
	return nil
}

func (t *trainFlags) options(ctx context.Context, api *client.Client, stderr io.Writer) (trainer.Options, func() error, error) {
	level := slog.LevelInfo
	if t.verbose {
		level = slog.LevelDebug
	}
	reg := prometheus.NewRegistry()
	o := trainer.Options{
		Dir: t.out, Demos: t.demos, Resume: t.resume == "auto", From: t.from, StopAfter: t.stopAt,
		Catalogue: api, Dial: t.dialer(), Registerer: reg,
		Log: slog.New(slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: level})), Plain: t.plain || !terminal(stderr),
	}
	if !t.quiet {
		o.Progress = stderr
	}
	if t.listen == "" {
		return o, func() error { return nil }, nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", t.listen)
	if err != nil {
		return o, nil, fmt.Errorf("serve metrics: %w", err)
	}
	srv := &http.Server{Handler: promhttp.HandlerFor(reg, promhttp.HandlerOpts{}), ReadHeaderTimeout: 5 * time.Second}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }() // received by the function returned
	fmt.Fprintf(stderr, "metrics at http://%s/metrics\n", l.Addr())
	return o, func() error {
		if err := srv.Close(); err != nil {
			return fmt.Errorf("serve metrics: %w", err)
		}
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve metrics: %w", err)
		}
		return nil
	}, nil
}

// terminal reports whether w is one.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func config(_ context.Context, args []string, stdout, stderr io.Writer) error {
	f := newFlags("config", "Prints a recipe with every default filled in.", "trainer config --recipe recipes/react.yaml --set rl.tasks=16", stderr)
	recipe := f.String("recipe", "", "recipe file (YAML)")
	var set list
	f.Var(&set, "set", "change a key of the recipe; may be repeated")
	if err := parse(f, args, stdout); err != nil {
		return err
	}
	if *recipe == "" {
		return usage("name a recipe with --recipe FILE")
	}
	cfg, err := trainer.ReadConfig(*recipe, set)
	if err != nil {
		return usageError{err}
	}
	data, err := cfg.YAML()
	if err != nil {
		return err
	}
	_, err = stdout.Write(data)
	return err
}
