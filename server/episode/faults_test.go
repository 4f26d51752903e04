package episode_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/episode"
)

// A replay runs an env as a step does, so it waits for its turn on the machine.
func TestReplayTakesATurn(t *testing.T) {
	g := play(t, episode.Config{MaxConcurrent: 1})
	id := g.start(api.ResetRequest{})
	g.step(id, "noop")
	g.step(id, "finish[42]")
	rec := g.rec.last(t)
	busy := g.start(api.ResetRequest{})
	before := g.toy.Steps.Load()
	slept := make(chan struct{})
	go func() {
		defer close(slept)
		g.step(busy, "sleep:1500")
	}()
	for g.toy.Steps.Load() == before {
		<-time.After(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	res, err := g.Replay(ctx, rec)
	if err == nil || code(err) != api.ProblemCodeStepTimeout || g.toy.Steps.Load() != before+1 {
		t.Errorf("a replay beside the only turn: %+v, %v, %d steps", res, err, g.toy.Steps.Load()-before)
	}
	<-slept
	if res, err := g.Replay(t.Context(), rec); err != nil || !res.Identical || res.Steps != 2 {
		t.Errorf("replay: %+v %v", res, err)
	}
}

// The end of the server ends a replay, and says nothing false about it.
func TestReplayEndsWithTheServer(t *testing.T) {
	g := play(t, episode.Config{})
	id := g.start(api.ResetRequest{})
	g.step(id, "sleep:3000")
	g.step(id, "finish[42]")
	rec := g.rec.last(t)
	before := g.toy.Steps.Load()
	got := make(chan error, 1)
	go func() {
		_, err := g.Replay(context.WithoutCancel(t.Context()), rec)
		got <- err
	}()
	for g.toy.Steps.Load() == before {
		<-time.After(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	g.Drain(ctx)
	if err := <-got; code(err) != api.ProblemCodeStepTimeout {
		t.Errorf("a replay at the end: %v", err)
	}
	if _, err := g.Replay(t.Context(), rec); code(err) != api.ProblemCodeDraining {
		t.Errorf("a replay after the end: %v", err)
	}
}

// A type that panics while a task is picked breaks that reset and nothing else:
// the env goes on, and so does the list of envs.
func TestPanicWhileATaskIsPicked(t *testing.T) {
	g := play(t, episode.Config{})
	id := g.start(api.ResetRequest{})
	g.step(id, "noop")
	_, _, err := g.Reset(t.Context(), me, id, api.ResetRequest{TaskID: "panic"}, "")
	if code(err) != api.ProblemCodeEnvCrashed {
		t.Fatalf("got %v", err)
	}
	alive := make(chan int, 1)
	go func() { alive <- len(g.Envs(me)) }()
	select {
	case n := <-alive:
		if n != 1 {
			t.Errorf("%d envs", n)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the env's lock is still held")
	}
	if r := g.step(id, "noop"); r.Step != 1 {
		t.Errorf("the episode that ran did not go on: %+v", r)
	}
	if _, _, err := g.Reset(t.Context(), me, id, api.ResetRequest{}, ""); err != nil {
		t.Errorf("the next reset: %v", err)
	}
}

// What one owner does never makes the server forget another's requests, or
// leaves another without room for a snapshot.
func TestOwnersDoNotCrowdEachOther(t *testing.T) {
	g := play(t, episode.Config{})
	you := episode.Who{Owner: "you"}
	make1 := func(who episode.Who, key string) string {
		c, _, err := g.Create(t.Context(), who, api.CreateEnvRequest{Type: "toy"}, key, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c.Envs[0].EnvID
	}
	mine := make1(me, "once")
	for i := range 5000 {
		if err := g.Close(you, make1(you, fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if again := make1(me, "once"); again != mine {
		t.Error("a repeated create made another env")
	}
	theirs := make1(you, "")
	if _, _, err := g.Reset(t.Context(), you, theirs, api.ResetRequest{}, ""); err != nil {
		t.Fatal(err)
	}
	var err error
	for n := 0; err == nil && n <= 5000; n++ {
		_, err = g.Snapshot(t.Context(), you, theirs)
	}
	if code(err) != api.ProblemCodeCapacity {
		t.Errorf("snapshots without end: %v", err)
	}
	if _, _, err := g.Reset(t.Context(), me, mine, api.ResetRequest{}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Snapshot(t.Context(), me, mine); err != nil {
		t.Errorf("another owner's snapshots take all the room: %v", err)
	}
	// Ending again is no error for an admin either.
	admin := episode.Who{Owner: "root", All: true}
	for range 2 {
		if err := g.Close(admin, mine); err != nil {
			t.Error(err)
		}
	}
}

// To wait for a turn on the machine is not the episode's time: the wall time
// of one that stood behind a slow step does not end it.
func TestWaitingIsNotWallTime(t *testing.T) {
	g := play(t, episode.Config{MaxConcurrent: 1})
	busy := g.start(api.ResetRequest{})
	short := g.start(api.ResetRequest{Limits: limits(0, 1, 0, 0)})
	before := g.toy.Steps.Load()
	slept := make(chan struct{})
	go func() {
		defer close(slept)
		g.step(busy, "sleep:1300")
	}()
	for g.toy.Steps.Load() == before {
		<-time.After(time.Millisecond)
	}
	if r := g.step(short, "noop"); r.Done || r.StopReason != nil {
		t.Errorf("ended by another's time: %+v", r)
	}
	<-slept
	g.tick.Add(3)
	if r := g.step(short, "noop"); r.StopReason == nil || *r.StopReason != api.StopReasonWallTime {
		t.Errorf("not ended by its own: %+v", r)
	}
}
