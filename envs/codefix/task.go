package codefix

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/taskfile"
)

// Task is one repair task. It is a Task's Private field in envs and the form
// of a file that a user brings.
type Task struct {
	ID     string         `json:"id"`
	Split  string         `json:"split,omitempty"`
	Public map[string]any `json:"-"`

	Prompt string            `json:"prompt"`
	Source map[string]string `json:"files"`
	// HiddenCases are graded all; HiddenTest, a pytest file, only where there
	// are none.
	HiddenCases []Case `json:"hidden_cases,omitempty"`
	HiddenTest  string `json:"hidden_test,omitempty"`
	// Fixed is the gold solution.py. It is never served. Of a HiddenTest it says
	// which arguments have to change; without it, all that change are in view.
	Fixed string `json:"fixed,omitempty"`

	// Gold are the repaired files where they are more than solution.py.
	Gold map[string]string `json:"-"`
	// Bank are further hidden cases, of which each episode draws Draw.
	Bank []Case `json:"-"`
	Draw int    `json:"-"`
	// Shown are visible cases of tasks that have no visible test file: they
	// are run by calls, and their arguments and values may be seen.
	Shown []Case `json:"-"`
	// Wrong are plausible wrong edits of a line, for demonstrations.
	Wrong []LineEdit `json:"-"`
}

// LineEdit replaces one line of solution.py, counted from 1.
type LineEdit struct {
	Line int
	Text string
}

// Case is one hidden call and what must come of it.
type Case struct {
	Op      string          `json:"op,omitempty"` // "call", the only one
	Fn      string          `json:"fn"`
	Args    json.RawMessage `json:"args"`
	Kwargs  json.RawMessage `json:"kwargs,omitempty"`
	Want    json.RawMessage `json:"want,omitempty"`
	Raises  string          `json:"raises,omitempty"`
	Compare *Compare        `json:"compare,omitempty"`
	Tagged  bool            `json:"tagged,omitempty"`
}

// Compare says how a value is compared with the wanted one.
type Compare struct {
	Kind string  `json:"kind"` // exact, approx or unordered
	Rel  float64 `json:"rel,omitempty"`
	Abs  float64 `json:"abs,omitempty"`
}

// original is the task's files as an episode starts.
func (t *Task) original() Files {
	f := make(Files, len(t.Source))
	for p, s := range t.Source {
		f[p] = []byte(s)
	}
	return f
}

// gold is the files that repair the task, nil where none are known.
func (t *Task) gold() map[string]string {
	if t.Gold == nil && t.Fixed != "" {
		return map[string]string{solutionFile: t.Fixed}
	}
	return t.Gold
}

var topFunction = regexp.MustCompile(`(?m)^(?:async[ \t]+)?def[ \t]+([A-Za-z_][A-Za-z0-9_]*)`)

// functions are what the task's own files, as they came and repaired, define
// as functions, as "module.name".
func (t *Task) functions() []string {
	var out []string
	for _, files := range []map[string]string{t.Source, t.gold()} {
		for p, text := range files {
			module, ok := strings.CutSuffix(p, ".py")
			if !ok || isVisibleTest(p) {
				continue
			}
			module = strings.ReplaceAll(strings.TrimSuffix(module, "/__init__"), "/", ".")
			for _, m := range topFunction.FindAllStringSubmatch(text, -1) {
				out = append(out, module+"."+m[1])
			}
		}
	}
	return unique(out)
}

func (t *Task) env() envs.Task {
	return envs.Task{ID: t.ID, Split: t.Split, Public: t.Public, Private: t}
}

var (
	taskID   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	funcName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*){0,3}$`)
	excName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)
)

// LoadDir reads the task files of a directory in the order of their names. A
// directory that is not there holds none. The error names every file that does
// not fit, with its reason.
func LoadDir(dir string) ([]Task, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	slices.Sort(names)
	var tasks []Task
	var faults []error
	seen := map[string]string{}
	for _, name := range names {
		t, err := loadFile(name)
		if err == nil && seen[t.ID] != "" {
			err = fmt.Errorf("id %q is taken by %s", t.ID, seen[t.ID])
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
			continue
		}
		seen[t.ID] = filepath.Base(name)
		tasks = append(tasks, *t)
	}
	return tasks, errors.Join(faults...)
}

const maxTaskFile = 8 << 20

func loadFile(name string) (*Task, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	b, err := io.ReadAll(io.LimitReader(f, maxTaskFile+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxTaskFile {
		return nil, fmt.Errorf("larger than %d bytes", maxTaskFile)
	}
	return ParseTask(b)
}

// ParseTask reads a task file and checks that it can be served.
func ParseTask(b []byte) (*Task, error) {
	if err := taskfile.Exact(b, func(field string) bool { return field == "hidden_cases" || field == "compare" }); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	t := &Task{}
	if err := dec.Decode(t); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, errors.New("something follows the task")
	}
	t.Split = envs.SplitUser
	if err := t.check(); err != nil {
		return nil, err
	}
	t.Public = map[string]any{"kind": "user", "prompt": t.Prompt, "files": slices.Sorted(maps.Keys(t.Source))}
	return t, nil
}

func (t *Task) check() error {
	if !taskID.MatchString(t.ID) {
		return errors.New(`"id" must be 1 to 100 letters, digits, '.', '_' or '-'`)
	}
	if strings.TrimSpace(t.Prompt) == "" {
		return errors.New(`"prompt" is empty`)
	}
	if _, ok := t.Source[solutionFile]; !ok {
		return errors.New(`"files" has no solution.py`)
	}
	w := newWorkspace(Files{}, true)
	for _, p := range slices.Sorted(maps.Keys(t.Source)) {
		c, bad := cleanPath(p)
		if bad != nil || c != p {
			return fmt.Errorf("\"files\": %q is not a plain relative path", p)
		}
		if err := w.put(c, []byte(t.Source[p])); err != nil {
			return fmt.Errorf("\"files\": %s: %w", p, err)
		}
	}
	if len(t.HiddenCases) == 0 && strings.TrimSpace(t.HiddenTest) == "" {
		return errors.New(`neither "hidden_cases" nor "hidden_test"`)
	}
	if t.Fixed != "" && t.Fixed == t.Source[solutionFile] {
		return errors.New(`"fixed" equals the unmodified solution.py`)
	}
	for i := range t.HiddenCases {
		if err := t.HiddenCases[i].check(); err != nil {
			return fmt.Errorf("hidden_cases[%d]: %w", i, err)
		}
	}
	return nil
}

func (c *Case) check() error {
	if c.Op != "" && c.Op != "call" {
		return fmt.Errorf("unknown op %q", c.Op)
	}
	if !funcName.MatchString(c.Fn) {
		return errors.New(`"fn" is not a name`)
	}
	if a := bytes.TrimSpace(c.Args); len(a) == 0 {
		c.Args = json.RawMessage("[]")
	} else if a[0] != '[' {
		return errors.New(`"args" is not a list`)
	}
	if k := bytes.TrimSpace(c.Kwargs); len(k) != 0 && k[0] != '{' {
		return errors.New(`"kwargs" is not an object`)
	}
	switch {
	case c.Raises != "" && len(c.Want) != 0:
		return errors.New(`both "want" and "raises"`)
	case c.Raises == "" && len(c.Want) == 0:
		return errors.New(`neither "want" nor "raises"`)
	case c.Raises != "" && !excName.MatchString(c.Raises):
		return errors.New(`"raises" is not the name of an exception`)
	}
	if k := c.Compare; k != nil {
		switch {
		case k.Kind != "exact" && k.Kind != "approx" && k.Kind != "unordered":
			return fmt.Errorf("unknown compare kind %q", k.Kind)
		case !(k.Rel >= 0 && k.Abs >= 0 && k.Rel < 1):
			return errors.New(`"rel" and "abs" must not be negative, "rel" below 1`)
		case k.Kind == "approx" && k.Rel == 0 && k.Abs == 0:
			return errors.New(`"approx" needs "rel" or "abs"`)
		}
	}
	return c.checkValues()
}
