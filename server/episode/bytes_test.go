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
