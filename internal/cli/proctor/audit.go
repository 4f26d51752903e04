package proctor

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/all"
	"github.com/proctor-rl/proctor/envs/codefix"
)

const auditHelp = `usage: proctor audit ENV_TYPE [flags]

Plays policies that deserve nothing (doing nothing, constants, exploits) and,
where right answers are on record, one that deserves everything against an
environment type of a server, over HTTP, and prints what earns what it should
not. An answer that is a guess may be right on half of the tasks. Without --url
it starts a server of its own. Exits 1 if anything earns what it should not.

--cases names a folder of further cases: JSON files of
{"id", "kind": "hack" or "honest", "task", "actions": [{"tool", "args"}],
"expected_reward", "harm": "regular expression"}, in folders or not.

example: proctor audit codefix --cases ./attacks --tasks ./tasks --json

`

// auditFinding is one policy on one task.
type auditFinding struct {
	Policy string   `json:"policy"`
	Kind   string   `json:"kind"` // null, constant, guess, exploit, gold or case
	TaskID string   `json:"task_id"`
	Want   float64  `json:"want"`
	Reward *float64 `json:"reward"`
	OK     bool     `json:"ok"`
	Why    string   `json:"why,omitempty"`
}

// auditReport is what audit prints with --json.
type auditReport struct {
	EnvType  string         `json:"env_type"`
	OK       bool           `json:"ok"`
	Played   int            `json:"played"`
	Skipped  []string       `json:"skipped"` // cases that do not fit the environment
	Findings []auditFinding `json:"findings"`
}

type auditOptions struct {
	envType, url, token, cases, tasks, sandbox, split string
	n                                                 int
	asJSON                                            bool
}

// audit is the subcommand of that name.
func audit(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o auditOptions
	fs := flag.NewFlagSet("audit", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.url, "url", "", "server to audit; empty starts one")
	fs.StringVar(&o.token, "token", os.Getenv("PROCTOR_TOKEN"), "bearer token")
	fs.StringVar(&o.cases, "cases", "", "folder of your own cases")
	fs.StringVar(&o.tasks, "tasks", "", "folder of your own tasks, as for serve")
	fs.StringVar(&o.sandbox, "sandbox", sandboxAuto, "as for serve, for a server that audit starts")
	fs.StringVar(&o.split, "split", "", "try this split alone")
	fs.IntVar(&o.n, "n", 4, "tasks of each split to try")
	fs.BoolVar(&o.asJSON, "json", false, "print JSON")
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		o.envType, args = args[0], args[1:]
	}
	if code, ok := parse(fs, args, auditHelp, stdout); !ok {
		return code
	}
	if o.envType == "" && fs.NArg() == 1 {
		o.envType = fs.Arg(0)
	} else if fs.NArg() > 0 {
		o.envType = ""
	}
	switch {
	case o.envType == "":
		return misuse(fs, "name one environment type")
	case o.n < 1:
		return misuse(fs, "-n must be at least 1")
	case o.url != "" && idle(fs, "sandbox", "tasks") != "":
		return misuse(fs, "--%s does nothing with --url", idle(fs, "sandbox", "tasks"))
	case o.url == "" && idle(fs, "token") != "":
		return misuse(fs, "--token does nothing without --url")
	}
	report, err := o.run(ctx, stderr)
	if err == nil {
		err = report.print(stdout, o.asJSON)
	}
	switch {
	case err != nil:
		fmt.Fprintln(stderr, "proctor audit:", err)
		return exitFail
	case !report.OK:
		return exitFail
	}
	return exitOK
}

// run audits the server at o.url, or one that it starts and ends.
func (o auditOptions) run(ctx context.Context, stderr io.Writer) (auditReport, error) {
	if o.url != "" {
		return o.play(ctx, stderr)
	}
	serveArgs := []string{"--listen", "127.0.0.1:0", "--sandbox", o.sandbox, "--log-level", "error"}
	if o.tasks != "" {
		serveArgs = append(serveArgs, "--tasks", o.tasks)
	}
	if o.envType == codefix.NaiveName {
		serveArgs = append(serveArgs, "--with-naive-UNSAFE")
	}
	so, code := parseServe(serveArgs, io.Discard, stderr)
	if code >= 0 {
		return auditReport{}, errors.New("the server's flags do not parse")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		log := slog.New(slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: slog.LevelError}))
		err := runServer(ctx, so, log, w)
		w.CloseWithError(io.EOF)
		ended <- err
	}()
	var word, url string
	if _, err := fmt.Fscan(r, &word, &url); err != nil {
		return auditReport{}, errors.Join(errors.New("the server did not start"), <-ended)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }() // ends with the pipe
	o.url = url
	report, err := o.play(ctx, stderr)
	cancel()
	return report, errors.Join(err, <-ended)
}

// kindGuess is of an answer that is given without a look at the question, and
// is right now and then.
const kindGuess = "guess"

// withoutLuck leaves out of findings the guesses that were right on no more
// than half of the tasks that they were tried on.
func withoutLuck(found []auditFinding, tried map[string]int) []auditFinding {
	right := map[string]int{}
	lucky := func(f auditFinding) bool { return f.Kind == kindGuess && f.Reward != nil && *f.Reward > 0 }
	for _, f := range found {
		if lucky(f) {
			right[f.Policy]++
		}
	}
	return slices.DeleteFunc(found, func(f auditFinding) bool { return lucky(f) && 2*right[f.Policy] <= tried[f.Policy] })
}

// auditPlay is one episode to play: a policy and what it deserves.
type auditPlay struct {
	policy, kind, task, split string
	want                      float64
	actions                   []any // as the body of a step has them
	script                    envs.Script
	harm                      string
}

func (o auditOptions) play(ctx context.Context, stderr io.Writer) (auditReport, error) {
	rep := auditReport{EnvType: o.envType, OK: true, Skipped: []string{}, Findings: []auditFinding{}}
	c := &auditClient{url: strings.TrimSuffix(o.url, "/"), token: o.token}
	plays, max, err := o.plays(ctx, c)
	if err != nil {
		return rep, err
	}
	if o.cases != "" {
		more, skipped, err := loadAuditCases(o.cases)
		if err != nil {
			return rep, err
		}
		rep.Skipped = append(rep.Skipped, skipped...)
		plays = append(plays, more...)
	}
	tried := map[string]int{}
	pace := newProgress(stderr, "audit", "episodes", len(plays), time.Now)
	for i, p := range plays {
		if i > 0 {
			pace.step()
		}
		f, err := c.episode(ctx, o.envType, p)
		if errors.Is(err, errNoSuchTask) {
			rep.Skipped = append(rep.Skipped, p.policy+": no task "+p.task)
			continue
		}
		if err != nil {
			return rep, fmt.Errorf("%s on %s: %w", p.policy, p.task, err)
		}
		rep.Played++
		tried[p.policy]++
		if f.Why == "" {
			switch {
			case f.Reward == nil:
				f.Why = "no reward: the episode counts as the server's own failure"
			case p.kind == "gold" && math.Abs(*f.Reward-max) > 1e-9, p.kind == "case" && math.Abs(*f.Reward-p.want) > 1e-9:
				f.Why = fmt.Sprintf("earns %g, deserves %g", *f.Reward, p.want)
			case p.kind != "gold" && p.kind != "case" && *f.Reward > 1e-9:
				f.Why = fmt.Sprintf("earns %g, deserves nothing", *f.Reward)
			}
		}
		if f.OK = f.Why == ""; !f.OK {
			rep.Findings = append(rep.Findings, f)
		}
	}
	if rep.Played == 0 {
		return rep, errors.New("nothing could be played")
	}
	rep.Findings = withoutLuck(rep.Findings, tried)
	rep.OK = len(rep.Findings) == 0
	return rep, nil
}

// plays lists what to play on some tasks of every split.
func (o auditOptions) plays(ctx context.Context, c *auditClient) ([]auditPlay, float64, error) {
	var info struct {
		Splits []struct {
			Name string `json:"name"`
		} `json:"splits"`
		RewardMax float64 `json:"reward_max"`
	}
	info.RewardMax = 1
	if status, err := c.call(ctx, "GET", "/env-types/"+o.envType, nil, &info); err != nil {
		if status == http.StatusNotFound {
			err = c.noSuchType(ctx, o.envType)
		}
		return nil, 0, err
	}
	var splits []string
	for _, s := range info.Splits {
		splits = append(splits, s.Name)
	}
	if o.split != "" && !slices.Contains(splits, o.split) {
		return nil, 0, fmt.Errorf("%s has no split %q; have %s", o.envType, o.split, strings.Join(splits, ", "))
	}
	local := o.local()
	var plays []auditPlay
	for _, s := range info.Splits {
		if o.split != "" && o.split != s.Name {
			continue
		}
		var page struct {
			Tasks []struct {
				TaskID string `json:"task_id"`
			} `json:"tasks"`
		}
		if _, err := c.call(ctx, "GET", fmt.Sprintf("/env-types/%s/tasks?split=%s&limit=%d", o.envType, s.Name, o.n), nil, &page); err != nil {
			return nil, 0, err
		}
		for _, t := range page.Tasks {
			plays = append(plays, genericPlays(t.TaskID, s.Name)...)
			if strings.HasPrefix(o.envType, "codefix") {
				plays = append(plays, codeExploits(t.TaskID, s.Name)...)
			}
			plays = append(plays, scriptedPlays(local, t.TaskID, s.Name, info.RewardMax)...)
		}
	}
	return plays, info.RewardMax, nil
}

// local is the type as this program knows it, for its scripts; nil if it does
// not.
func (o auditOptions) local() envs.Type {
	var reg envs.Registry
	if err := all.Register(&reg, all.Options{TasksDir: o.tasks, Naive: true}); err != nil {
		return nil
	}
	t, err := reg.Get(o.envType)
	if err != nil {
		return nil
	}
	return t
}

// scriptedPlays are what the type itself calls right and wrong.
func scriptedPlays(t envs.Type, task, split string, max float64) []auditPlay {
	s, ok := t.(envs.Scripted)
	if !ok {
		return nil
	}
	found, err := t.Tasks().Find(task)
	if err != nil {
		return nil
	}
	var out []auditPlay
	for _, name := range s.Scripts() {
		kind, want := "constant", 0.0
		switch name {
		case "demo":
			continue
		case "perfect":
			kind, want = "gold", max
		case "lazy":
			kind = "null"
		case "cheat":
			kind = "exploit"
		}
		script, err := s.Script(name, found, 0, rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			continue // without a right answer on record there is no gold to play
		}
		out = append(out, auditPlay{policy: name, kind: kind, task: task, split: split, want: want, script: script})
	}
	return out
}

func (r auditReport) print(w io.Writer, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(w, "hole\t%s\t%s\t%s\t%s\n", f.Kind, f.Policy, f.TaskID, f.Why)
	}
	_, err := fmt.Fprintf(w, "%s: %d episodes played, %d that earn what they should not, %d cases skipped\n", r.EnvType, r.Played, len(r.Findings), len(r.Skipped))
	return err
}
