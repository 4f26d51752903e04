package proctor

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/all"
)

// taskCheck is the verdict on one of the user's tasks.
type taskCheck struct {
	EnvType  string   `json:"env_type"`
	TaskID   string   `json:"task_id"`
	OK       bool     `json:"ok"`
	Problems []string `json:"problems"`
}

// checkReport is what check prints with --json.
type checkReport struct {
	OK      bool        `json:"ok"`
	Refused []string    `json:"refused"` // files that do not fit
	Tasks   []taskCheck `json:"tasks"`
}

const checkHelp = `usage: proctor check --tasks DIR [--json]

Loads DIR/<env type>/*.json as serve would and plays every task: a right answer
must earn the maximum where one is given; an empty answer, garbage, a lazy and a
cheating player must earn nothing, and for code neither must the unmodified
files, an empty file, a constant, an object that is equal to everything and
functions that empty their arguments.

example: proctor check --tasks ./tasks

`

// check is the subcommand of that name.
func check(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("check", flag.ContinueOnError)
	fs.SetOutput(stderr)
	dir := fs.String("tasks", "", "folder of tasks")
	asJSON := fs.Bool("json", false, "print JSON")
	if code, ok := parse(fs, args, checkHelp, stdout); !ok {
		return code
	}
	if fs.NArg() > 0 {
		return misuse(fs, "unexpected argument %q", fs.Arg(0))
	}
	if *dir == "" {
		return misuse(fs, "name a folder with --tasks DIR")
	}
	if info, err := os.Stat(*dir); err != nil || !info.IsDir() {
		return misuse(fs, "%s is no folder", *dir)
	}
	report, err := checkTasks(ctx, *dir, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "proctor check:", err)
		return exitFail
	}
	if len(report.Tasks) == 0 && len(report.Refused) == 0 {
		report.OK = false
		report.Refused = append(report.Refused, *dir+": no tasks; they are DIR/<env type>/*.json")
	}
	if err := report.print(stdout, *asJSON); err != nil {
		fmt.Fprintln(stderr, "proctor check:", err)
		return exitFail
	}
	if !report.OK {
		return exitFail
	}
	return exitOK
}

// checkTasks loads and plays. Its error is our own failure; whatever is wrong
// with the tasks is in the report.
func checkTasks(ctx context.Context, dir string, stderr io.Writer) (checkReport, error) {
	report := checkReport{OK: true, Refused: []string{}, Tasks: []taskCheck{}}
	var reg envs.Registry
	box := &lateSandbox{}
	defer box.Close() //nolint:errcheck // the verdict is out
	if err := all.Register(&reg, all.Options{TasksDir: dir, Runner: box}); err != nil {
		report.OK = false
		report.Refused = strings.Split(err.Error(), "\n")
	}
	total := 0
	for _, t := range reg.Types() {
		total += t.Tasks().Len(envs.SplitUser)
	}
	if total == 0 {
		return report, nil
	}
	pace := newProgress(stderr, "check", "tasks", total, time.Now)
	for _, t := range reg.Types() {
		for i := range t.Tasks().Len(envs.SplitUser) {
			task, err := t.Tasks().At(envs.SplitUser, i)
			if err != nil {
				return report, fmt.Errorf("task %d of %s: %w", i, t.Spec().Name, err)
			}
			c, err := checkTask(ctx, t, task)
			if err != nil {
				return report, fmt.Errorf("check %s of %s: %w", task.ID, t.Spec().Name, err)
			}
			report.OK = report.OK && c.OK
			report.Tasks = append(report.Tasks, c)
			pace.step()
		}
	}
	return report, nil
}

// checkTask plays the gate of one task.
func checkTask(ctx context.Context, t envs.Type, task envs.Task) (taskCheck, error) {
	c := taskCheck{EnvType: t.Spec().Name, TaskID: task.ID, Problems: []string{}}
	env, err := t.New(ctx)
	if err != nil {
		return c, fmt.Errorf("make an environment: %w", err)
	}
	defer env.Close() //nolint:errcheck // nothing is left to report once the verdict is out
	players := map[string]envs.Script{
		"an empty action":  fixed(""),
		"an empty answer":  fixed("Action: finish[]"),
		"garbage":          fixed("\x00\xff <garbage> [[["),
		"a garbage answer": fixed("Action: finish[garbage, garbage]"),
	}
	if s, ok := t.(envs.Scripted); ok {
		for _, name := range s.Scripts() {
			if name == "demo" {
				continue
			}
			p, err := s.Script(name, task, 0, rand.New(rand.NewPCG(1, 1)))
			if errors.Is(err, envs.ErrNoGold) {
				continue
			}
			if err != nil {
				c.Problems = append(c.Problems, fmt.Sprintf("the %s player cannot play it: %v", name, err))
				continue
			}
			players["the "+name+" player"] = p
		}
	}
	for _, name := range sortedKeys(players) {
		e, err := playEpisode(ctx, t.Spec(), env, players[name], envs.Start{Task: task, Seed: 1, Limits: t.Spec().Limits})
		if err != nil {
			return c, fmt.Errorf("%s: %w", name, err)
		}
		want := 0.0
		if name == "the perfect player" {
			want = t.Spec().RewardMax
		}
		if e.Reward != want {
			c.Problems = append(c.Problems, fmt.Sprintf("%s earns %g, want %g", name, e.Reward, want))
		}
	}
	c.OK = len(c.Problems) == 0
	return c, nil
}

// fixed is a player of one action, again and again.
type fixed string

// Act plays the action.
func (f fixed) Act(envs.Observation) envs.Action { return envs.Action{Text: string(f)} }

func (r checkReport) print(w io.Writer, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	for _, s := range r.Refused {
		fmt.Fprintln(w, "refused", s)
	}
	good := 0
	for _, c := range r.Tasks {
		if c.OK {
			good++
			continue
		}
		fmt.Fprintf(w, "bad %s %s: %s\n", c.EnvType, c.TaskID, strings.Join(c.Problems, "; "))
	}
	_, err := fmt.Fprintf(w, "%d tasks right, %d wrong, %d files refused\n", good, len(r.Tasks)-good, len(r.Refused))
	return err
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
