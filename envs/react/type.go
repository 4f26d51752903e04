package react

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/proctor-rl/proctor/envs"
)

// version is the version of every type here. A changed reward, text or world
// is a new one.
const version = "1.0.0"

// Type is one environment type. It is safe for concurrent use.
type Type struct {
	opt      Options
	spec     envs.Spec
	tasks    *taskSet
	verifier envs.Verifier
}

// New makes the type of generated worlds that o describes.
func New(o Options) (*Type, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("make %s: %w", o.Name, err)
	}
	return newType(o, &generated{opt: o}, "Answer a question about an invented world by searching its pages and computing.")
}

func newType(o Options, src source, summary string) (*Type, error) {
	t := &Type{opt: o}
	ids, err := newTaskIDs(fmt.Sprintf("%s\x00%s\x00%d", o.Name, version, o.Seed))
	if err != nil {
		return nil, err
	}
	if t.tasks, err = newTaskSet(src, ids, o.UserTasks); err != nil {
		return nil, fmt.Errorf("make %s: %w", o.Name, err)
	}
	digest, err := t.digest()
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", o.Name, err)
	}
	t.verifier = envs.Verifier{Name: "exact-typed-match", Version: version, Digest: digest}
	t.spec = envs.Spec{
		Name: o.Name, Version: version, Digest: digest, Summary: summary,
		Tools:       tools(),
		ActionHelp:  help,
		ActionForms: []string{"Action: search[title]", "Action: lookup[string]", "Action: calculator[expression]", "Action: finish[answer]"},
		Limits:      envs.Limits{MaxSteps: 10, WallTimeSeconds: 300, MaxObservationBytes: 4096, MaxToolCalls: 64},
		MaxLimits:   envs.Limits{MaxSteps: 100, WallTimeSeconds: 3600, MaxObservationBytes: 65536, MaxToolCalls: 1000},
		RewardMax:   1,
		RewardParts: []envs.PartSpec{{
			Name: "answer", Kind: envs.PartOutcome, Weight: 1,
			Help: "1 if the first finish gives exactly the right answer, else 0.",
		}},
		Can: envs.Capabilities{Seed: true, Snapshot: true, Replay: true},
	}
	if !o.compact() {
		t.spec.Limits.MaxSteps = 20
	}
	if o.Shaped {
		t.spec.RewardMin = -shapedRight
		t.spec.Can.StepReward = true
		t.spec.RewardParts = append(t.spec.RewardParts, envs.PartSpec{
			Name: "calculator", Kind: envs.PartProcess, Weight: 1,
			Help: "Where the question needs a computation: up to 0.375 in all for a result of the calculator, taken back when the answer is right, so that a return of 1 always means solved.",
		})
	}
	for _, s := range []string{envs.SplitTrain, envs.SplitValidation, envs.SplitTest, envs.SplitUser} {
		if n := t.tasks.Len(s); n > 0 {
			t.spec.Splits = append(t.spec.Splits, envs.SplitInfo{Name: s, Tasks: n})
		}
	}
	return t, nil
}

// Spec describes the type.
func (t *Type) Spec() envs.Spec {
	s := t.spec
	s.Tools = slices.Clone(s.Tools)
	s.ActionForms = slices.Clone(s.ActionForms)
	s.Splits = slices.Clone(s.Splits)
	s.RewardParts = slices.Clone(s.RewardParts)
	return s
}

// Tasks are the type's tasks.
func (t *Type) Tasks() envs.TaskSet { return t.tasks }

// New makes an idle Env.
func (t *Type) New(ctx context.Context) (envs.Env, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("new %s: %w", t.spec.Name, err)
	}
	return &Env{t: t}, nil
}

// digest hashes the configuration and a sample of every split with its pages,
// so that a change anywhere in the generator changes it. The answers of a user's
// tasks are not in it: a digest is public, and an answer is short.
func (t *Type) digest() (string, error) {
	h := sha256.New()
	o := t.opt
	o.UserTasks = nil
	cfg, err := json.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("hash options: %w", err)
	}
	h.Write(cfg)
	for _, s := range []string{envs.SplitTrain, envs.SplitValidation, envs.SplitTest, envs.SplitUser} {
		n := t.tasks.Len(s)
		fmt.Fprintf(h, "%s %d\n", s, n)
		sample := 8
		if s == envs.SplitUser {
			sample = n
		}
		for i := range min(n, sample) {
			task, err := t.tasks.At(s, i)
			if err != nil {
				return "", fmt.Errorf("hash tasks: %w", err)
			}
			p, ok := task.Private.(*problem)
			if !ok {
				return "", fmt.Errorf("hash tasks: %s holds %T", task.ID, task.Private)
			}
			fmt.Fprintf(h, "%s\n%s\n", task.ID, p.question)
			for _, g := range p.golds {
				if s == envs.SplitUser {
					break // whoever knows the rest could try answers against the digest
				}
				fmt.Fprintf(h, "%s %s\n", g.Type(), g)
			}
			if i > 0 && s != envs.SplitUser {
				continue // one world of a split shows how worlds are made
			}
			for _, page := range p.corpus().pages {
				fmt.Fprintf(h, "%s\n%s\n%q\n", page.Title, page.Lead, page.Facts)
			}
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

const help = `Write one Thought line and one Action line:
Thought: what you know and what you need next
Action: tool[argument]
Then stop; the observation follows. The tools:
search[title] opens the page of that title, or names similar ones.
lookup[string] shows the next sentence of the open page that contains the string.
calculator[expression] computes, for example calculator[(12 + 3) * 4].
finish[answer] ends the episode with your one answer.
The first Action line counts and nothing after it.`

func tools() []envs.Tool {
	tool := func(name, description, param, about string) envs.Tool {
		return envs.Tool{
			Name: name, Description: description,
			Parameters: json.RawMessage(fmt.Sprintf(
				`{"type":"object","properties":{%q:{"type":"string","description":%q}},"required":[%q],"additionalProperties":false}`,
				param, about, param,
			)),
		}
	}
	return []envs.Tool{
		tool("search", "Open the page with exactly this title, or name similar titles.", "query", "The title to open."),
		tool("lookup", "Show the next sentence of the open page that contains the string.", "string", "What to look for."),
		tool("calculator", "Compute an arithmetic expression.", "expression", "For example (12 + 3) * 4."),
		tool("finish", "End the episode with the one answer.", "answer", "The answer alone."),
	}
}
