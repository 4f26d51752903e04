package codefix

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	_ "embed" // the tasks
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/internal/sandbox/grade"
	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

// bugsFile is made by data/build.py.
//
//go:embed data/bugs.json.gz
var bugsFile []byte

// drawn is how many further hidden cases an episode draws.
const drawn = 10

// seedFunction is a function that works, its cases, and its bugs.
type seedFunction struct {
	Family    string            `json:"family"`
	Fn        string            `json:"fn"`
	Split     string            `json:"split"`
	Statement string            `json:"statement"`
	Files     map[string]string `json:"files"`
	Approx    bool              `json:"approx"`
	Tagged    bool              `json:"tagged"`
	Compare   string            `json:"compare"` // exact where empty
	Fixed     []seedCase        `json:"fixed"`
	Bank      []seedCase        `json:"bank"`
	Shown     []seedCase        `json:"shown"`
	Bugs      []seedBug         `json:"bugs"`

	fixed, bank []Case
}

type seedBug struct {
	Kind  string      `json:"kind"`
	File  string      `json:"file"`
	Patch []lineRange `json:"patch"`
	Shown []int       `json:"shown"`
}

// seedCase is [arguments, {"w": value} or {"e": exception}]; "t" is how far a
// number may be off.
type seedCase struct {
	args      json.RawMessage
	want      json.RawMessage
	raises    string
	tolerance float64
}

// UnmarshalJSON reads a case.
func (c *seedCase) UnmarshalJSON(b []byte) error {
	var out struct {
		W json.RawMessage `json:"w"`
		E string          `json:"e"`
		T float64         `json:"t"`
	}
	parts := []any{&c.args, &out}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	c.want, c.raises, c.tolerance = out.W, out.E, out.T
	return nil
}

func (f *seedFunction) compile(c seedCase) Case {
	k := Case{Fn: f.Fn, Args: c.args, Want: c.want, Raises: c.raises, Tagged: f.Tagged}
	switch {
	case c.raises != "":
	case c.tolerance > 0:
		k.Compare = &Compare{Kind: "approx", Abs: c.tolerance}
	case f.Approx:
		k.Compare = &Compare{Kind: "approx", Rel: 1e-9, Abs: 1e-9}
	case f.Compare != "":
		k.Compare = &Compare{Kind: f.Compare}
	}
	return k
}

// lineRange is [first, last, text or null]: lines counted from 1 become text.
// last = first-1 inserts.
type lineRange struct {
	first, last int
	text        *string
}

// UnmarshalJSON reads a range.
func (r *lineRange) UnmarshalJSON(b []byte) error {
	parts := []any{&r.first, &r.last, &r.text}
	return json.Unmarshal(b, &parts)
}

// bank is the built-in tasks: every bug of every function is one.
type bank struct {
	functions []seedFunction
	splits    map[string][]bugRef
	byID      map[string]bugRef
	digest    string
	compact   bool // visible cases instead of a test file
}

type bugRef struct{ function, bug int }

// builtin reads the built-in tasks, once: every type shares them, and nothing
// changes them.
var builtin = sync.OnceValues(func() (Source, error) { return readBank(bugsFile) })

func readBank(packed []byte) (Source, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("read built-in tasks: %w", err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("read built-in tasks: %w", err)
	}
	var file struct {
		Version   int            `json:"version"`
		Functions []seedFunction `json:"functions"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, fmt.Errorf("read built-in tasks: %w", err)
	}
	s := &bank{functions: file.Functions, splits: map[string][]bugRef{}, byID: map[string]bugRef{}}
	s.digest = fmt.Sprintf("%x", sha256.Sum256(b))
	for i := range s.functions {
		f := &s.functions[i]
		for _, c := range f.Fixed {
			f.fixed = append(f.fixed, f.compile(c))
		}
		for _, c := range f.Bank {
			f.bank = append(f.bank, f.compile(c))
		}
		for j := range f.Bugs {
			ref := bugRef{i, j}
			s.splits[f.Split] = append(s.splits[f.Split], ref)
			s.byID[s.id(ref)] = ref
		}
	}
	// Bugs of one function lie apart, so that the first tasks of a split are
	// of many kinds.
	for split, refs := range s.splits {
		s.splits[split] = spread(refs)
	}
	return s, nil
}

// spread orders refs by the number of the bug, then by function.
func spread(refs []bugRef) []bugRef {
	var out []bugRef
	for n := 0; len(out) < len(refs); n++ {
		for _, r := range refs {
			if r.bug == n {
				out = append(out, r)
			}
		}
	}
	return out
}

// small is the part of a bank that fits the compact style: functions in one
// file, with visible cases instead of a test file.
func (s *bank) small() *bank {
	c := &bank{functions: s.functions, splits: map[string][]bugRef{}, byID: map[string]bugRef{}, digest: s.digest, compact: true}
	for split, refs := range s.splits {
		for _, r := range refs {
			if len(s.functions[r.function].Files) == 1 {
				c.splits[split] = append(c.splits[split], r)
				c.byID[c.id(r)] = r
			}
		}
	}
	return c
}

// id is a keyed hash, so that it says nothing of the function or the bug.
func (s *bank) id(r bugRef) string {
	f := &s.functions[r.function]
	h := hmac.New(sha256.New, []byte("task ids of codefix"))
	fmt.Fprintf(h, "%s %d %s", f.Fn, r.bug, f.Bugs[r.bug].File)
	for _, p := range f.Bugs[r.bug].Patch {
		fmt.Fprintf(h, "\x00%d %d", p.first, p.last)
		if p.text != nil {
			fmt.Fprintf(h, " %s", *p.text)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// Len is the number of tasks of a split.
func (s *bank) Len(split string) int { return len(s.splits[split]) }

// At is task i of a split.
func (s *bank) At(split string, i int) (*Task, error) {
	if i < 0 || i >= len(s.splits[split]) {
		return nil, fmt.Errorf("%w: %s has no task %d", envs.ErrNoTask, split, i)
	}
	return s.task(s.splits[split][i]), nil
}

// Find is the task of an id.
func (s *bank) Find(id string) (*Task, error) {
	r, ok := s.byID[id]
	if !ok {
		return nil, fmt.Errorf("%w: no built-in task has this id", envs.ErrNoTask)
	}
	return s.task(r), nil
}

// Digest identifies the tasks.
func (s *bank) Digest() string { return s.digest }

// slice says why a test task is one.
func (f *seedFunction) slice() string {
	switch {
	case f.Split != envs.SplitTest:
		return "seen"
	case f.Compare != "": // only functions that are not ours name a comparison
		return "external"
	case f.Family == "graphs" || f.Family == "formats":
		return "unseen-family"
	}
	return "unseen-function"
}

func (s *bank) task(r bugRef) *Task {
	f := &s.functions[r.function]
	bug := f.Bugs[r.bug]
	t := &Task{
		ID: s.id(r), Split: f.Split, Prompt: f.Statement,
		Source: map[string]string{}, Gold: f.Files,
		HiddenCases: f.fixed, Bank: f.bank, Draw: drawn,
		Public: map[string]any{"kind": bug.Kind, "family": f.Family, "slice": f.slice(), "files": len(f.Files)},
	}
	for name, text := range f.Files {
		t.Source[name] = text
	}
	t.Source[bug.File] = patched(f.Files[bug.File], bug.Patch)
	if s.compact {
		for _, i := range bug.Shown {
			t.Shown = append(t.Shown, f.compile(f.Shown[i]))
		}
		return t
	}
	t.Source["test_solution.py"] = f.tests(bug.Shown)
	return t
}

// patched applies ranges, which are in ascending order and do not overlap.
func patched(text string, ranges []lineRange) string {
	lines := strings.Split(text, "\n")
	var out []string
	at := 1
	for _, r := range ranges {
		out = append(out, lines[at-1:r.first-1]...)
		if r.text != nil {
			out = append(out, strings.Split(*r.text, "\n")...)
		}
		at = r.last + 1
	}
	return strings.Join(append(out, lines[at-1:]...), "\n")
}

// tests is the visible test file of some shown cases.
func (f *seedFunction) tests(shown []int) string {
	var b strings.Builder
	for _, i := range shown {
		if f.Shown[i].raises != "" {
			b.WriteString("import pytest\n")
			break
		}
	}
	fmt.Fprintf(&b, "from solution import %s\n", f.Fn)
	for n, i := range shown {
		c := f.compile(f.Shown[i])
		g, err := c.compiled()
		if err != nil {
			continue // the data is checked by a test
		}
		args := make([]string, len(g.Args))
		for k, a := range g.Args {
			args[k] = a.String()
		}
		call := f.Fn + "(" + strings.Join(args, ", ") + ")"
		fmt.Fprintf(&b, "\n\ndef test_%d():\n", n+1)
		switch {
		case c.Raises != "":
			fmt.Fprintf(&b, "    with pytest.raises(%s):\n        %s\n", c.Raises, call)
		case g.Compare.Kind == grade.Approx:
			fmt.Fprintf(&b, "    assert abs(%s - %s) < %s\n", call, g.Want.String(), pyval.FormatFloat(g.Compare.Abs))
		case g.Compare.Kind == grade.Unordered:
			fmt.Fprintf(&b, "    assert sorted(%s) == sorted(%s)\n", call, g.Want.String())
		default:
			fmt.Fprintf(&b, "    assert %s == %s\n", call, g.Want.String())
		}
	}
	return b.String()
}
