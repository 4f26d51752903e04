package trainer_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/trainer"
)

func miniConfig() trainer.Config {
	c := trainer.Default()
	c.Name, c.Env.Type, c.Env.Live = "fake", "fake", 16
	c.Policy.Kind, c.Policy.MLP.Buckets, c.Policy.MLP.Hidden = "mlp", 512, 8
	c.RL.Updates, c.RL.Tasks, c.RL.Group = 8, 4, 6
	c.RL.Adam.LR, c.RL.Algo.GRPO.Minibatches, c.RL.Algo.GRPO.Epochs = 0.01, 2, 2
	c.Eval.Every, c.Eval.Validation, c.Eval.Test = 4, 6, 10
	c.Output.Checkpoint = 2
	c.RL.Average = true
	return c
}

func run(t *testing.T, c trainer.Config, f *fake, dir string, stopAfter int) (trainer.Report, error) {
	t.Helper()
	tr, err := trainer.New(c, trainer.Options{Dir: dir, Resume: true, StopAfter: stopAfter, Catalogue: f, Dial: f.dial})
	if err != nil {
		t.Fatal(err)
	}
	r, err := tr.Run(context.Background())
	if cerr := tr.Close(); cerr != nil {
		t.Error(cerr)
	}
	return r, err
}

func checkpointOf(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	for _, name := range []string{"policy.safetensors", "optimizer.bin"} {
		data, err := os.ReadFile(filepath.Join(dir, "ckpt", "rl_000008", name))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}

// TestResumeEqualsNeverHavingStopped is P23: 8 updates are 3 and 5 more, bit
// for bit, in parameters and moments, also with failures of ours on the way
// (which are played again) and with another number of threads (P24).
func TestResumeEqualsNeverHavingStopped(t *testing.T) {
	whole := t.TempDir()
	if _, err := run(t, miniConfig(), newFake(), whole, 0); err != nil {
		t.Fatal(err)
	}
	want := checkpointOf(t, whole)
	parts := t.TempDir()
	if _, err := run(t, miniConfig(), newFake(), parts, 3); !errors.Is(err, trainer.ErrStopped) {
		t.Fatalf("stopping gave %v", err)
	}
	flaky := newFake()
	flaky.failEvery = 7
	c := miniConfig()
	c.Env.Retries = 20
	if _, err := run(t, c, flaky, parts, 0); err != nil {
		t.Fatal(err)
	}
	if checkpointOf(t, parts) != want {
		t.Error("a stopped and resumed run ended with other parameters")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	single := t.TempDir()
	if _, err := run(t, miniConfig(), newFake(), single, 0); err != nil {
		t.Fatal(err)
	}
	if checkpointOf(t, single) != want {
		t.Error("one thread ended with other parameters")
	}
}

// TestTrainingLearnsAndLeavesARunFolder: success rises on held-out tasks, and
// everything that a run promises is in its folder.
func TestTrainingLearnsAndLeavesARunFolder(t *testing.T) {
	dir := t.TempDir()
	c := miniConfig()
	c.RL.Updates, c.RL.Adam.LR = 20, 0.02
	r, err := run(t, c, newFake(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if before, after := r.Start.Overall[trainer.Sampled].Rate, r.Final.Overall[trainer.Sampled].Rate; after < before+0.3 {
		t.Errorf("success at temperature 1 from %.2f to %.2f", before, after)
	}
	for _, name := range []string{
		"config.resolved.yaml", "metrics.jsonl", "metrics.csv", "curve.png", "report.json", "eval/start.json", "eval/final.json",
		"samples/final.jsonl", "samples/final_1.txt", "best/policy.safetensors", "final/policy.safetensors", "warm/policy.safetensors", "ckpt/last",
	} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s is missing or empty", name)
		}
	}
	rows, err := trainer.ReadRows(dir)
	if err != nil || len(rows) != 21 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	again, err := trainer.RunConfig(dir)
	if err != nil || again.RL.Updates != 20 {
		t.Errorf("resolved configuration does not read back: %v", err)
	}
}

// TestFailedEpisodesAreExcluded is P12 and the reward-null rule: an episode
// that never gets a reward counts as excluded, never as a failure of the policy.
func TestFailedEpisodesAreExcluded(t *testing.T) {
	f := newFake()
	f.nullTask = 3000
	c := miniConfig()
	c.RL.Updates = 1
	r, err := run(t, c, f, t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	got := r.Start.Overall[trainer.Greedy]
	if got.Invalid > 1 || got.Tasks+got.Invalid != 20 {
		t.Errorf("%d tasks and %d excluded, want 20 together", got.Tasks, got.Invalid)
	}
	sampled := r.Final.Overall[trainer.Sampled]
	if sampled.Invalid != 1 {
		t.Errorf("%d episodes excluded at temperature 1, want the one task without a reward", sampled.Invalid)
	}
}

// TestConfigIsStrict: unknown keys and impossible pairs are errors, --set
// reaches into the recipe, and a resolved recipe reads back.
func TestConfigIsStrict(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.yaml")
	write := func(s string) {
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("env: {type: x}\nrl: {taks: 3}\n")
	if _, err := trainer.ReadConfig(path, nil); err == nil || !strings.Contains(err.Error(), "taks") {
		t.Errorf("unknown key: %v", err)
	}
	write("env: {type: x}\n")
	c, err := trainer.ReadConfig(path, []string{"rl.algo.grpo.kl=0.1", "seed=7"})
	if err != nil || c.RL.Algo.GRPO.KL != 0.1 || c.Seed != 7 || c.RL.Tasks != trainer.Default().RL.Tasks {
		t.Errorf("--set: %v", err)
	}
	for _, set := range []string{"rl.tsks=1", "rl", "rl.group=1", "policy.kind=rnn", "rl.temperature=0", "eval.keep_best=x"} {
		if _, err := trainer.ReadConfig(path, []string{set}); err == nil {
			t.Errorf("--set %s accepted", set)
		}
	}
	recipes, err := filepath.Glob("../recipes/*.yaml")
	if err != nil || len(recipes) < 3 {
		t.Fatalf("recipes: %v %v", recipes, err)
	}
	for _, r := range recipes {
		if _, err := trainer.ReadConfig(r, nil); err != nil {
			t.Error(err)
		}
	}
}
