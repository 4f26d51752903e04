package envtest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/proctor-rl/proctor/envs"
)

// prompt is how soon a call returns: generous, since a starved machine is no fault of the
// type, and far below what an unbounded loop takes.
const prompt = 20 * time.Second

// checkLife looks at the order of calls.
func (s *suite) checkLife(t *testing.T) {
	task := s.sample(t)[0]
	e := s.env(t)
	if _, err := e.Step(t.Context(), envs.Action{Text: "x"}); !errors.Is(err, envs.ErrNotReset) {
		t.Errorf("step before reset: %v, want ErrNotReset", err)
	}
	if _, err := e.Score(t.Context()); !errors.Is(err, envs.ErrNotReset) {
		t.Errorf("score before reset: %v, want ErrNotReset", err)
	}
	first := s.reset(t, e, task)
	s.play(t, e, task, "perfect", first)
	if _, err := e.Step(t.Context(), envs.Action{Text: "x"}); !errors.Is(err, envs.ErrOver) {
		t.Errorf("step after the end: %v, want ErrOver", err)
	}
	if _, err := e.Score(t.Context()); !errors.Is(err, envs.ErrOver) {
		t.Errorf("score after the end: %v, want ErrOver", err)
	}
	if again := s.reset(t, e, task); encode(t, again) != encode(t, first) {
		t.Error("a second reset shows something else")
	}
	for range 2 {
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if _, err := e.Step(t.Context(), envs.Action{Text: "x"}); err == nil {
		t.Error("step after close is accepted")
	}
	if err := s.env(t).Close(); err != nil {
		t.Errorf("close before reset: %v", err)
	}
}

// checkCancel looks at a context that is over before the call.
func (s *suite) checkCancel(t *testing.T) {
	task := s.sample(t)[0]
	e := s.env(t)
	s.reset(t, e, task)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range map[string]func() error{
		"reset": func() error { _, err := s.env(t).Reset(ctx, s.start(task)); return err },
		"step":  func() error { _, err := e.Step(ctx, envs.Action{Text: "Action: x[y]"}); return err },
	} {
		start := time.Now()
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want context.Canceled", name, err)
		}
		if d := time.Since(start); d > prompt {
			t.Errorf("%s returned after %v", name, d)
		}
	}
}

// checkScore ends episodes before their time.
func (s *suite) checkScore(t *testing.T) {
	for _, task := range s.sample(t) {
		e := s.env(t)
		s.reset(t, e, task)
		o, err := e.Score(t.Context())
		if err != nil {
			t.Fatalf("score: %v", err)
		}
		if o.Terminated || o.Grade == nil || o.Grade.Passed {
			t.Errorf("score of an untouched task: terminated %v, grade %+v", o.Terminated, o.Grade)
		}
		s.checkOutcome(t, o)
		s.hides(t, "score", task, encode(t, o), true)
		if _, err := e.Step(t.Context(), envs.Action{}); !errors.Is(err, envs.ErrOver) {
			t.Errorf("step after score: %v, want ErrOver", err)
		}
	}
}

// checkCap asks for tiny observations.
func (s *suite) checkCap(t *testing.T) {
	const most = 48
	for _, task := range s.sample(t) {
		e := s.env(t)
		start := s.start(task)
		full := s.reset(t, e, task)
		start.Limits.MaxObservationBytes = most
		obs, err := e.Reset(t.Context(), start)
		if err != nil {
			t.Fatalf("reset: %v", err)
		}
		if len(full.Text) > most && obs.Elided == 0 {
			t.Errorf("%d bytes were cut to %d without a word", len(full.Text), len(obs.Text))
		}
		capped := func(o envs.Observation) {
			t.Helper()
			if len(o.Text) > most || !utf8.ValidString(o.Text) {
				t.Errorf("an observation of %d bytes, valid %v, under a cap of %d", len(o.Text), utf8.ValidString(o.Text), most)
			}
			for _, m := range o.Messages {
				if len(m.Content) > most {
					t.Errorf("a message of %d bytes under a cap of %d", len(m.Content), most)
				}
			}
		}
		capped(obs)
		o, err := e.Step(t.Context(), envs.Action{Text: "Action: nonsense[" + strings.Repeat("é", 200) + "]"})
		if err != nil {
			t.Fatalf("step: %v", err)
		}
		capped(o.Observation)
	}
}

// garbage is what an agent may send and an environment must survive.
func garbage() []envs.Action {
	texts := []string{
		"", " ", "\n", "\x00", "\xff\xfe\xfd", "Action:", "Action: ", "Action: [", "Action: ]", "Action: []",
		"Action: finish", "Action: nonsense[x]", "Action: nonsense({})", "Action: nonsense(",
		"Action: __init__[x]", "Observation: done\nObservation: done",
		"Thought: \u202e\u200b\u2028\u2029", "{\"tool_calls\": []}", "<|im_end|><|im_start|>system",
		strings.Repeat("a", 1<<20), strings.Repeat("Action: \n", 1<<17), strings.Repeat("[", 1<<20),
		"Action: search[" + strings.Repeat("x ", 1<<19) + "]",
		strings.Repeat("\xf0\x9f", 1<<19),
	}
	var actions []envs.Action
	for _, s := range texts {
		actions = append(actions, envs.Action{Text: s})
	}
	for _, args := range []string{"", "{", "null", "[]", "42", `"x"`, `{"a":1}`, `{"a":1,"a":2}`, strings.Repeat("[", 1<<17), `{"path":"` + strings.Repeat("x", 1<<20) + `"}`} {
		for _, name := range []string{"nonsense", "", "finis\x00", "search", "edit_file"} {
			actions = append(actions, envs.Action{ToolCalls: []envs.ToolCall{{ID: "c1", Name: name, Arguments: args}}})
		}
	}
	many := envs.Action{}
	for range 200 {
		many.ToolCalls = append(many.ToolCalls, envs.ToolCall{ID: "same", Name: "nonsense", Arguments: "{}"})
	}
	return append(actions, many)
}

// checkGarbage sends garbage to a live episode: an outcome each, worth nothing.
func (s *suite) checkGarbage(t *testing.T) {
	task := s.sample(t)[0]
	e := s.env(t)
	s.reset(t, e, task)
	for _, a := range garbage() {
		start := time.Now()
		o, err := e.Step(t.Context(), a)
		if err != nil {
			t.Fatalf("%.60q: error %v, want an outcome", encode(t, a), err)
		}
		if d := time.Since(start); d > prompt {
			t.Errorf("%.60q took %v", encode(t, a), d)
		}
		s.checkOutcome(t, o)
		s.hides(t, "answer to garbage", task, encode(t, o), true)
		if o.Reward > 0 {
			t.Errorf("%.60q earned %g", encode(t, a), o.Reward)
		}
		if len(a.ToolCalls) > 0 && !o.Terminated && len(o.Observation.Messages) != len(a.ToolCalls) {
			t.Errorf("%d tool calls were answered by %d messages", len(a.ToolCalls), len(o.Observation.Messages))
		}
		if o.Terminated {
			s.reset(t, e, task)
		}
	}
}

// checkObservation looks for what no observation may hold.
func checkObservation(t *testing.T, o envs.Observation) {
	t.Helper()
	texts := []string{o.Text}
	for _, m := range o.Messages {
		texts = append(texts, m.Content)
		if m.Role == "" {
			t.Error("a message without a role")
		}
	}
	for _, s := range texts {
		if !utf8.ValidString(s) {
			t.Errorf("invalid UTF-8 in %.80q", s)
		}
		if i := strings.IndexFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
			t.Errorf("control character in %.80q", s[i:])
		}
	}
	if len(o.Data) > 0 && !json.Valid(o.Data) {
		t.Errorf("data is no JSON: %.80s", o.Data)
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	return string(b)
}
