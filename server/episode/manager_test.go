package episode_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/episode"
)

func TestLimitsEndEpisodes(t *testing.T) {
	g := play(t, episode.Config{})
	want := func(r *api.StepResult, why api.StopReason) {
		t.Helper()
		if !r.Truncated || r.Terminated || !r.Done || r.StopReason == nil || *r.StopReason != why || r.Grade == nil || r.Reward == nil {
			t.Errorf("want truncated by %s, got %+v", why, r)
		}
		rec := g.rec.last(t)
		if rec.Episode.Status != api.StatusTruncated || *rec.Episode.StopReason != why || rec.Episode.Steps != len(rec.Steps) {
			t.Errorf("recorded as %+v", rec.Episode)
		}
		res, err := g.Replay(t.Context(), rec)
		if err != nil || !res.Identical {
			t.Errorf("replay of an episode ended by %s: %+v %v", why, res, err)
		}
	}
	id := g.start(api.ResetRequest{Limits: limits(2, 0, 0, 0)})
	if r := g.step(id, "reward:"); r.Done || r.Budget.StepsLeft != 1 {
		t.Errorf("ended early: %+v", r)
	}
	r := g.step(id, "reward:")
	want(r, api.StopReasonMaxSteps)
	if *r.Return != 0.5 {
		t.Errorf("return %v, want 0.5", *r.Return)
	}

	id = g.start(api.ResetRequest{Limits: limits(0, 0, 0, 3)})
	g.step(id, "noop")
	three := `{"tool_calls":[{"function":{"name":"a"}},{"function":{"name":"b"}},{"function":{"name":"c"}}]}`
	r, _, err := g.Step(t.Context(), me, id, api.StepRequest{Action: []byte(three)}, "")
	if err != nil {
		t.Fatal(err)
	}
	want(r, api.StopReasonBudget)

	id = g.start(api.ResetRequest{Limits: limits(0, 60, 0, 0)})
	g.step(id, "noop")
	before := g.toy.Steps.Load()
	g.tick.Add(120)
	want(g.step(id, "finish[42]"), api.StopReasonWallTime)
	if played := g.toy.Steps.Load() - before; played != 1 { // the one is the replay's noop
		t.Errorf("a late action was played: %d", played)
	}

	id = g.start(api.ResetRequest{})
	if r, err = g.Score(t.Context(), me, id); err != nil {
		t.Fatal(err)
	}
	want(r, api.StopReasonClient)
}

func TestObservationsAreBoundedAndClean(t *testing.T) {
	g := play(t, episode.Config{})
	id := g.start(api.ResetRequest{Limits: limits(0, 0, 101, 0)})
	r := g.step(id, "big:1000")
	if o := r.Observation; len(o.Text) != 100 || o.Elided == nil || o.Elided.Bytes != 1900 {
		t.Errorf("%d bytes, elided %+v", len(r.Observation.Text), r.Observation.Elided)
	}
	r, _, err := g.Step(t.Context(), me, id, api.StepRequest{Action: api.TextAction("raw:a\x1b[2J\r\x00\u0085b\tc\n")}, "")
	if err != nil || r.Observation.Text != `a\x1b[2J\x0d\x00\x85b`+"\tc\n" {
		t.Errorf("%v %q", err, r.Observation.Text)
	}
}

func TestTimeouts(t *testing.T) {
	g := play(t, episode.Config{StepTimeout: 100 * time.Millisecond, HangGrace: 100 * time.Millisecond})
	// The client's own deadline: the step goes on and a repeat gets its reply.
	id := g.start(api.ResetRequest{})
	zero, ten := 0, 10
	req := api.StepRequest{Action: api.TextAction("sleep:60"), Step: &zero, TimeoutMs: &ten}
	if _, _, err := g.Step(t.Context(), me, id, req, ""); code(err) != api.ProblemCodeStepTimeout {
		t.Fatalf("got %v", err)
	}
	req.TimeoutMs = nil
	var r *api.StepResult
	var replayed bool
	for deadline := time.Now().Add(10 * time.Second); ; {
		var err error
		if r, replayed, err = g.Step(t.Context(), me, id, req, ""); err == nil {
			break
		}
		if code(err) != api.ProblemCodeStepInProgress || time.Now().After(deadline) {
			t.Fatal(err)
		}
		<-time.After(5 * time.Millisecond)
	}
	if !replayed || r.Observation.Text != "ok 1" || g.toy.Steps.Load() != 1 {
		t.Errorf("the step ran twice: %+v", r)
	}
	// Our deadline: the step fails, with no reward.
	id = g.start(api.ResetRequest{})
	if r := g.step(id, "sleep:60000"); r.Status != api.StatusFailed || r.Reward != nil || r.Return != nil {
		t.Errorf("got %+v", r)
	}
	// An env that is deaf to its deadline is given up, and closed when it returns.
	id = g.start(api.ResetRequest{})
	_, _, err := g.Step(t.Context(), me, id, api.StepRequest{Action: api.TextAction("hang:600")}, "")
	if code(err) != api.ProblemCodeStepTimeout || g.rec.last(t).Episode.Status != api.StatusFailed {
		t.Errorf("got %v", err)
	}
	if _, _, err := g.Reset(t.Context(), me, id, api.ResetRequest{}, ""); err != nil {
		t.Errorf("reset after a hang: %v", err)
	}
}

func TestCloseDuringAStep(t *testing.T) {
	g := play(t, episode.Config{})
	id := g.start(api.ResetRequest{})
	done := make(chan error, 1)
	go func() {
		_, _, err := g.Step(context.Background(), me, id, api.StepRequest{Action: api.TextAction("sleep:60000")}, "")
		done <- err
	}()
	for g.toy.Steps.Load() == 0 {
		<-time.After(time.Millisecond)
	}
	if err := g.Close(me, id); err != nil {
		t.Fatal(err)
	}
	if err := <-done; code(err) != api.ProblemCodeEnvNotFound {
		t.Errorf("got %v", err)
	}
	if rec := g.rec.last(t); rec.Episode.Status != api.StatusClosed || rec.Episode.Return != nil {
		t.Errorf("recorded as %+v", rec.Episode)
	}
}

func TestDeterminismAndGroups(t *testing.T) {
	g := play(t, episode.Config{})
	seed, other := int64(11), int64(12)
	texts := map[string]bool{}
	for range 3 {
		c, _, err := g.Create(t.Context(), me, api.CreateEnvRequest{Type: "toy"}, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := g.Reset(t.Context(), me, c.Envs[0].EnvID, api.ResetRequest{Seed: &seed}, "")
		if err != nil || !r.SeedAccepted {
			t.Fatal(err)
		}
		texts[r.Observation.Text] = true
	}
	if len(texts) != 1 {
		t.Errorf("one seed, several starts: %v", texts)
	}
	n := 3
	c, _, err := g.Create(t.Context(), me, api.CreateEnvRequest{Type: "toy", Count: &n}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		starts, groups := map[string]bool{}, map[string]bool{}
		for _, e := range c.Envs {
			r, _, err := g.Reset(t.Context(), me, e.EnvID, api.ResetRequest{}, "")
			if err != nil {
				t.Fatal(err)
			}
			starts[r.Observation.Text], groups[r.GroupID] = true, true
		}
		if len(starts) != 1 || len(groups) != 1 {
			t.Errorf("round %d: %v %v", round, starts, groups)
		}
	}
	a := c.Envs[0].EnvID
	if _, _, err := g.Reset(t.Context(), me, a, api.ResetRequest{Seed: &seed, GroupID: "G"}, ""); err != nil {
		t.Fatal(err)
	}
	if _, _, err := g.Reset(t.Context(), me, a, api.ResetRequest{Seed: &other, GroupID: "G"}, ""); code(err) != api.ProblemCodeInvalidField {
		t.Errorf("another start in the same group: %v", err)
	}
}

func TestForkAndSnapshot(t *testing.T) {
	g := play(t, episode.Config{})
	id := g.start(api.ResetRequest{})
	g.step(id, "reward:")
	snap, err := g.Snapshot(t.Context(), me, id)
	if err != nil {
		t.Fatal(err)
	}
	forks, err := g.Fork(t.Context(), me, id, 2)
	if err != nil || len(forks) != 2 {
		t.Fatal(err, forks)
	}
	g.step(id, "finish[1]")
	for _, f := range forks {
		r := g.step(f.EnvID, "finish[42]")
		if r.Step != 1 || *r.Return != 1.25 {
			t.Errorf("fork went on from elsewhere: %+v", r)
		}
		if rec := g.rec.last(t); len(rec.Steps) != 2 {
			t.Errorf("a fork's trajectory has %d steps, want 2", len(rec.Steps))
		} else if res, err := g.Replay(t.Context(), rec); err != nil || !res.Identical {
			t.Errorf("replay: %+v %v", res, err)
		}
	}
	c, _, err := g.Create(t.Context(), me, api.CreateEnvRequest{FromSnapshot: snap}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := g.step(c.Envs[0].EnvID, "reward:"); r.Step != 1 || *r.Return != 0.5 {
		t.Errorf("from the snapshot: %+v", r)
	}
	if _, _, err := g.Create(t.Context(), episode.Who{Owner: "you"}, api.CreateEnvRequest{FromSnapshot: snap}, "", nil); code(err) != api.ProblemCodeInvalidField {
		t.Errorf("a foreign snapshot: %v", err)
	}
	if err := g.DropSnapshot(episode.Who{Owner: "you"}, snap); code(err) != api.ProblemCodeSnapshotNotFound {
		t.Errorf("a foreign snapshot was dropped: %v", err)
	}
	open := g.toy.Open.Load()
	if err := g.DropSnapshot(me, snap); err != nil || g.toy.Open.Load() != open-1 {
		t.Errorf("%v, %d envs open of %d", err, g.toy.Open.Load(), open)
	}
	if err := g.DropSnapshot(me, snap); code(err) != api.ProblemCodeSnapshotNotFound {
		t.Errorf("dropped twice: %v", err)
	}
	if _, _, err := g.Create(t.Context(), me, api.CreateEnvRequest{FromSnapshot: snap}, "", nil); code(err) != api.ProblemCodeInvalidField {
		t.Errorf("a dropped snapshot: %v", err)
	}
	g.step(c.Envs[0].EnvID, "noop") // goes on without it
	other, err := g.Snapshot(t.Context(), me, c.Envs[0].EnvID)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.DropSnapshot(episode.Who{Owner: "boss", All: true}, other); err != nil {
		t.Error(err)
	}
}

// Many goroutines on few envs: nothing is lost, and no end is recorded twice.
func TestConcurrentUse(t *testing.T) {
	g := play(t, episode.Config{})
	var ids []string
	for range 4 {
		ids = append(ids, g.start(api.ResetRequest{}))
	}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for n := range 40 {
				id := ids[(i+n)%len(ids)]
				switch n % 5 {
				case 0:
					_, _, _ = g.Reset(context.Background(), me, id, api.ResetRequest{}, "")
				case 4:
					_, _, _ = g.Step(context.Background(), me, id, api.StepRequest{Action: api.TextAction("finish[42]")}, "")
				default:
					_, _, err := g.Step(context.Background(), me, id, api.StepRequest{Action: api.TextAction("reward:")}, "")
					if c := code(err); err != nil && c != api.ProblemCodeStepInProgress && c != api.ProblemCodeEpisodeOver {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if err := g.Close(me, id); err != nil {
			t.Error(err)
		}
	}
	seen := map[string]bool{}
	for _, r := range g.rec.ended {
		if seen[r.Episode.EpisodeID] {
			t.Errorf("%s ended twice", r.Episode.EpisodeID)
		}
		seen[r.Episode.EpisodeID] = true
		if len(r.Steps) != r.Episode.Steps {
			t.Errorf("%d steps recorded of %d", len(r.Steps), r.Episode.Steps)
		}
		sum := 0.0
		for _, s := range r.Steps {
			sum += *s.Reward
		}
		if r.Episode.Return != nil && *r.Episode.Return != sum {
			t.Errorf("return %v, steps paid %v", *r.Episode.Return, sum)
		}
	}
}
