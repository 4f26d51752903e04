package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Case is one attack or honest act, as its file has it. Fields of other
// runners are ignored.
type Case struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"` // hack, honest or policy-note
	Class string `json:"class"`
	Tool  string `json:"tool"` // calculator, react or qa: who can play it

	Calc       string  `json:"calc"`
	PolicyText string  `json:"policy_text"`
	Repeat     *Repeat `json:"repeat"` // builds a long calc or policy_text

	Gold    json.RawMessage   `json:"gold"` // one answer or a list
	Answer  json.RawMessage   `json:"answer"`
	Answers []json.RawMessage `json:"answers"` // finish again and again
	Query   string            `json:"query"`
	URL     string            `json:"url"`

	// Documents and Turns belong to this package's own cases: the corpus of the
	// task, and actions as text, played until the episode ends.
	Documents []Document `json:"documents"`
	Turns     []string   `json:"turns"`

	Honest Expect `json:"honest"`

	// Code cases: actions on a repair task, what they earn, and a pattern that
	// shows damage wherever it stands in an observation. Episodes follow one
	// another where state would have to cross from one to the next.
	Task           string        `json:"task"`
	Actions        []CodeAction  `json:"actions"`
	Episodes       []CodeEpisode `json:"episodes"`
	ExpectedReward float64       `json:"expected_reward"`
	// BothRoutes plays the case twice: as it stands, and with the lines of each
	// file replaced in place of the whole file.
	BothRoutes bool `json:"both_routes"`
	// Long cases run or sleep up to a limit: they are started first, beside the
	// others, so that their time is not added to theirs.
	Long bool   `json:"long"`
	Harm string `json:"harm"`
}

// CodeAction is one tool call of a code case.
type CodeAction struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"`
}

// CodeEpisode is one of several episodes of a code case.
type CodeEpisode struct {
	Task    string       `json:"task"`
	Actions []CodeAction `json:"actions"`
}

// Repeat is prefix, n units, mid, n second units.
type Repeat struct {
	Prefix string `json:"prefix"`
	Unit   string `json:"unit"`
	N      int    `json:"n"`
	Mid    string `json:"mid"`
	Unit2  string `json:"unit2"`
}

func (r Repeat) text() string {
	return r.Prefix + strings.Repeat(r.Unit, r.N) + r.Mid + strings.Repeat(r.Unit2, r.N)
}

// Document is a page of a task's corpus.
type Document struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Expect is what a right server does.
type Expect struct {
	Error      bool            `json:"error"`
	OrError    json.RawMessage `json:"or_error"` // a refusal is right as well
	Value      json.RawMessage `json:"value"`
	ValueAnyOf []string        `json:"value_any_of"`
	Tool       *string         `json:"tool"`
	Arg        *string         `json:"arg"`
	Reward     *float64        `json:"reward"`
	Flags      []string        `json:"flags"`   // integrity flags of the last step
	Absent     []string        `json:"absent"`  // patterns that no reply holds
	Present    []string        `json:"present"` // patterns that some reply holds
}

// LoadCases reads dir/<class>/*.json. A file that cannot be read is an error:
// a broken case must not count as one that was played.
func LoadCases(dir string) ([]Case, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if err != nil {
		return nil, fmt.Errorf("list cases: %w", err)
	}
	slices.Sort(names)
	var cases []Case
	for _, name := range names {
		if filepath.Base(filepath.Dir(name)) == "tasks" {
			continue // task files of code cases
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read case: %w", err)
		}
		var c Case
		if err := json.Unmarshal(data, &c); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if c.ID == "" || c.Class == "" {
			return nil, fmt.Errorf("read %s: a case needs an id and a class", name)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

var (
	integerForm = regexp.MustCompile(`^[+-]?\d+$`)
	decimalForm = regexp.MustCompile(`^[+-]?\d+\.\d+$`)
)

// task is the task file that the case is played on.
func (c Case) task() (map[string]any, error) {
	docs := c.Documents
	if len(docs) == 0 {
		docs = []Document{{"Note", "Nothing here."}}
	}
	answers := []map[string]any{{"type": "integer", "value": 42}}
	if len(c.Gold) > 0 {
		var list []any
		if c.Gold[0] != '[' {
			list = make([]any, 1)
			if err := json.Unmarshal(c.Gold, &list[0]); err != nil {
				return nil, fmt.Errorf("gold of %s: %w", c.ID, err)
			}
		} else if err := json.Unmarshal(c.Gold, &list); err != nil {
			return nil, fmt.Errorf("gold of %s: %w", c.ID, err)
		}
		answers = nil
		for _, g := range list {
			answers = append(answers, typed(fmt.Sprint(g)))
		}
	}
	return map[string]any{"id": c.ID, "question": "The question of " + c.ID + "?", "documents": docs, "answers": answers}, nil
}

// typed guesses the type of a gold that a case gives as text.
func typed(s string) map[string]any {
	switch {
	case integerForm.MatchString(s):
		return map[string]any{"type": "integer", "value": json.Number(strings.TrimPrefix(s, "+"))}
	case decimalForm.MatchString(s):
		return map[string]any{"type": "decimal", "value": json.Number(strings.TrimPrefix(s, "+"))}
	case strings.EqualFold(s, "yes") || strings.EqualFold(s, "no"):
		return map[string]any{"type": "boolean", "value": strings.EqualFold(s, "yes")}
	}
	return map[string]any{"type": "string", "value": s}
}

// pattern compiles a case's regular expression. Cases are written for Python,
// whose \uXXXX is \x{XXXX} here.
func pattern(p string) (*regexp.Regexp, error) {
	return regexp.Compile(pythonEscape.ReplaceAllString(p, `\x{$1}`))
}

var pythonEscape = regexp.MustCompile(`\\u([0-9a-fA-F]{4})`)
