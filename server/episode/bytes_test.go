package episode_test

import (
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/episode"
)

// An episode that grows without end is ended while it can still be recorded:
// otherwise the longest would be played, paid and never seen again.
func TestLongEpisodeEndsWhileItCanBeRecorded(t *testing.T) {
	g := play(t, episode.Config{})
	id := g.start(api.ResetRequest{Limits: limits(1000, 0, 0, 1000)})
	action := "noop:" + strings.Repeat("<", 4<<20)
	var last *api.StepResult
	n := 0
	for last == nil || !last.Done {
		if n++; n > 20 {
			t.Fatal("the episode goes on and on")
		}
		last = g.step(id, action)
	}
	if last.Status != api.StatusTruncated || last.StopReason == nil || *last.StopReason != api.StopReasonBudget || last.Reward == nil || last.Grade == nil {
		t.Errorf("ended as %s %v, reward %v, grade %v", last.Status, last.StopReason, last.Reward, last.Grade)
	}
	rec := g.rec.last(t)
	if len(rec.Steps) != n {
		t.Errorf("%d steps are recorded of %d", len(rec.Steps), n)
	}
	res, err := g.Replay(t.Context(), rec)
	if err != nil || !res.Identical || res.Steps != n {
		t.Errorf("replay: %+v %v", res, err)
	}
}

// A step keeps its action and not the body that it came in.
func TestStepKeepsNoBody(t *testing.T) {
	g := play(t, episode.Config{})
	id := g.start(api.ResetRequest{})
	body := []byte(strings.Repeat(" ", 1<<20) + `"noop"`)
	if _, _, err := g.Step(t.Context(), me, id, api.StepRequest{Action: body[1<<20:]}, ""); err != nil {
		t.Fatal(err)
	}
	clear(body)
	if err := g.Close(me, id); err != nil {
		t.Fatal(err)
	}
	if got := string(g.rec.last(t).Steps[0].Action); got != `"noop"` {
		t.Errorf("recorded %q: it shares the body's memory", got)
	}
}

// What one owner's episodes hold is bounded: large actions are refused until
// some of them end, small ones and other owners' are not.
func TestHeldBytesOfAnOwner(t *testing.T) {
	g := play(t, episode.Config{MaxHeldBytes: 1 << 20})
	large := "noop:" + strings.Repeat("x", 300<<10) // held twice
	a, b := g.start(api.ResetRequest{}), g.start(api.ResetRequest{})
	g.step(a, large)
	step := func(id, action string) error {
		_, _, err := g.Step(t.Context(), me, id, api.StepRequest{Action: api.TextAction(action)}, "")
		return err
	}
	if err := step(b, large); code(err) != api.ProblemCodeCapacity {
		t.Errorf("too much: %v", err)
	}
	if err := step(b, "noop"); err != nil {
		t.Errorf("a small action: %v", err)
	}
	you := episode.Who{Owner: "you"}
	c, _, err := g.Create(t.Context(), you, api.CreateEnvRequest{Type: "toy"}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := g.Reset(t.Context(), you, c.Envs[0].EnvID, api.ResetRequest{}, ""); err != nil {
		t.Fatal(err)
	}
	if _, _, err := g.Step(t.Context(), you, c.Envs[0].EnvID, api.StepRequest{Action: api.TextAction(large)}, ""); err != nil {
		t.Errorf("another owner: %v", err)
	}
	// Ends of every kind give it back, and copies count.
	for range 3 {
		if _, _, err := g.Reset(t.Context(), me, a, api.ResetRequest{}, ""); err != nil {
			t.Fatal(err)
		}
		g.step(a, large)
		if g.step(a, "finish[42]").Return == nil {
			t.Error("no return")
		}
		if err := step(b, large); err != nil {
			t.Fatalf("after an end: %v", err)
		}
		forks, err := g.Fork(t.Context(), me, b, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := step(forks[0].EnvID, large); code(err) != api.ProblemCodeCapacity {
			t.Errorf("beside a copy: %v", err)
		}
		for _, id := range []string{forks[0].EnvID, b} {
			if err := g.Close(me, id); err != nil {
				t.Fatal(err)
			}
		}
		b = g.start(api.ResetRequest{})
	}
}

// Names are as long as the contract says, in characters.
func TestLengthsAreInCharacters(t *testing.T) {
	g := play(t, episode.Config{})
	long := strings.Repeat("é", 128)
	id := g.start(api.ResetRequest{GroupID: long, PolicyVersion: long})
	if _, _, err := g.Reset(t.Context(), me, id, api.ResetRequest{GroupID: long + "é"}, ""); code(err) != api.ProblemCodeInvalidField {
		t.Errorf("129 characters: %v", err)
	}
}

// Replies that are kept for a repeat are bounded by the envs in them.
func TestRememberedGroupsAreBounded(t *testing.T) {
	g := play(t, episode.Config{})
	n := 1024
	first := ""
	for i := range 18 {
		c, _, err := g.Create(t.Context(), me, api.CreateEnvRequest{Type: "toy", Count: &n}, string(rune('a'+i)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = c.ID
		}
		for _, e := range c.Envs {
			if err := g.Close(me, e.EnvID); err != nil {
				t.Fatal(err)
			}
		}
	}
	c, again, err := g.Create(t.Context(), me, api.CreateEnvRequest{Type: "toy", Count: &n}, "a", nil)
	if err != nil || again || c.ID == first {
		t.Errorf("the oldest of 18 groups of 1024 is still held: %v %v", again, err)
	}
	if _, again, err := g.Create(t.Context(), me, api.CreateEnvRequest{Type: "toy", Count: &n}, "r", nil); err != nil || !again {
		t.Errorf("the newest is forgotten: %v %v", again, err)
	}
}
