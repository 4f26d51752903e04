package trainer_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/internal/cli/trainer"
)

// TestCommand drives the command as a person would: help, usage mistakes and
// exit codes, without a server.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.yaml"), filepath.Join(dir, "bad.yaml")
	for path, text := range map[string]string{
		good: "env: {type: react-mini}\npolicy:\n  max_action: 32\n  transformer: {context: 64, dim: 16, layers: 1, heads: 2}\n",
		bad:  "env: {type: react-mini}\nrl: {taks: 3}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const nobody = "http://127.0.0.1:1"
	for _, c := range []struct {
		args           string
		code           int
		stdout, stderr string
	}{
		{"--help", 0, "train ", ""},
		{"train --help", 0, "example:", ""},
		{"sft --help", 0, "example:", ""},
		{"eval --help", 0, "example:", ""},
		{"sample --help", 0, "example:", ""},
		{"export --help", 0, "example:", ""},
		{"bench --help", 0, "example:", ""},
		{"demo --help", 0, "example:", ""},
		{"lab --help", 0, "example:", ""},
		{"lab gaming --help", 0, "example:", ""},
		{"lab gaming --seeds 0", 2, "", "--seeds"},
		{"lab gaming --recipe " + bad, 2, "", "taks"},
		{"", 2, "", "usage:"},
		{"dance", 2, "", "no command"},
		{"train", 2, "", "--recipe"},
		{"train --recipe " + bad + " --server " + nobody, 2, "", "taks"},
		{"train --recipe " + good, 2, "", "--server URL"},
		{"eval --run " + dir + "/none --server " + nobody, 1, "", "none"},
		{"lab juggling", 2, "", "no exercise"},
		{"config --recipe " + good + " --set rl.tasks=3", 0, "tasks: 3", ""},
		{"config --recipe " + good + " --set rl.group=1", 2, "", "rl.group"},
		{"bench --recipe " + good + " --seconds 0.02 --sequences 2 --length 16 --json", 0, "learn_tokens_per_s", ""},
	} {
		t.Run(c.args, func(t *testing.T) {
			var out, err bytes.Buffer
			if code := trainer.Main(context.Background(), strings.Fields(c.args), &out, &err); code != c.code {
				t.Errorf("exit code %d, want %d; stderr %q", code, c.code, err.String())
			}
			if !strings.Contains(out.String(), c.stdout) || !strings.Contains(err.String(), c.stderr) {
				t.Errorf("stdout %q, stderr %q", out.String(), err.String())
			}
		})
	}
}
