package proctor

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/client"
)

// A name that names nothing is told so, with those that there are: no command
// ends well on a misspelt one.
func TestNamesOfNothing(t *testing.T) {
	dir := t.TempDir()
	url, stop := start(t, "--data", dir)
	c, err := client.New(url, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	env, err := c.Create(t.Context(), api.CreateEnvRequest{Type: "react-mini"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Reset(t.Context(), env.EnvID, api.ResetRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Step(t.Context(), env.EnvID, api.StepRequest{Action: api.TextAction("Action: finish[42]")}); err != nil {
		t.Fatal(err)
	}
	var none bytes.Buffer
	if code := Main(t.Context(), []string{"audit", "nope", "--url", url}, &none, &none); code != exitFail || !strings.Contains(none.String(), "react-mini") {
		t.Errorf("audit of an unknown type: %d %s", code, &none)
	}
	if code := stop(); code != exitOK {
		t.Fatalf("serve exited with %d", code)
	}
	empty := t.TempDir()
	for _, tt := range []struct {
		name string
		args []string
		code int
		says []string // on stderr
	}{
		{"export of an unknown type", []string{"export", "--data", dir, "--type", "nope"}, exitFail, []string{`"nope"`, "react-mini (1)"}},
		{"export of a known type without episodes", []string{"export", "--data", dir, "--type", "react-almanac"}, exitOK, []string{"no ended episode", "react-mini (1)"}},
		{"export of another group", []string{"export", "--data", dir, "--group", "nope"}, exitOK, []string{"no ended episode", "react-mini (1)"}},
		{"export of another task", []string{"export", "--data", dir, "--task", "nope", "--format", "parquet"}, exitOK, []string{"no ended episode"}},
		{"export of an unknown status", []string{"export", "--data", dir, "--status", "nope"}, exitUsage, []string{"terminated, truncated, failed, closed"}},
		{"export of running ones", []string{"export", "--data", dir, "--status", "running"}, exitUsage, []string{"terminated, truncated, failed, closed"}},
		{"export of a folder without episodes", []string{"export", "--data", empty}, exitFail, []string{empty, "--data"}},
		{"replay in a folder without episodes", []string{"replay", "--data", empty, "x"}, exitFail, []string{empty, "--data"}},
		{"replay of an unknown episode", []string{"replay", "--data", dir, "nope"}, exitFail, []string{`no episode "nope"`}},
		{"demos of an unknown type", []string{"demos", "--env", "nope", "--n", "1"}, exitUsage, []string{`"nope"`, "react-mini"}},
		{"demos of an unknown split", []string{"demos", "--env", "react-mini", "--split", "nope", "--n", "1"}, exitFail, []string{`"nope"`, "train"}},
		{"audit of an unknown type", []string{"audit", "nope"}, exitFail, []string{`"nope"`, "react-mini"}},
		{"audit of an unknown split", []string{"audit", "react-mini", "--split", "nope"}, exitFail, []string{`"nope"`, "train"}},
	} {
		var out, errs bytes.Buffer
		code := Main(t.Context(), tt.args, &out, &errs)
		if code != tt.code {
			t.Errorf("%s: exit %d, want %d; %s", tt.name, code, tt.code, &errs)
		}
		for _, s := range tt.says {
			if !strings.Contains(errs.String(), s) {
				t.Errorf("%s: says %q, without %q", tt.name, errs.String(), s)
			}
		}
	}
	if es, err := os.ReadDir(empty); err != nil || len(es) > 0 {
		t.Errorf("looking into a folder left %v in it, %v", es, err)
	}
	var out, errs bytes.Buffer
	if code := Main(t.Context(), []string{"export", "--data", dir, "--type", "react-mini"}, &out, &errs); code != exitOK || errs.Len() > 0 || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("export: %d %s, %s", code, &out, &errs)
	}
}
