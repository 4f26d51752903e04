package rollout_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/proctor-rl/proctor/client"
	"github.com/proctor-rl/proctor/trainer/policy"
	"github.com/proctor-rl/proctor/trainer/rollout"
)

// shaky is a server at the edge of the process that speaks the socket's frames.
// It cuts its sockets off in the middle of a step, without a closing frame, and
// turns away the dials that follow before it is there again.
type shaky struct {
	upgrader websocket.Upgrader

	mu     sync.Mutex
	made   int
	steps  map[string]int // by env
	all    int
	cutAt  []int // counts of all steps at which every socket is cut
	refuse int   // dials still to be turned away
	dials  int
	open   []*websocket.Conn
}

func (s *shaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.dials++
	away := s.refuse > 0
	if away {
		s.refuse--
	}
	s.mu.Unlock()
	if away {
		http.Error(w, "back in a moment", http.StatusServiceUnavailable)
		return
	}
	ws, err := s.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.open = append(s.open, ws)
	s.mu.Unlock()
	defer ws.Close() // it may be cut already
	for {
		var f struct {
			ID     int64  `json:"id"`
			Op     string `json:"op"`
			EnvID  string `json:"env_id"`
			TaskID string `json:"task_id"`
		}
		if ws.ReadJSON(&f) != nil {
			return
		}
		result, cut := s.answer(f.Op, f.EnvID, f.TaskID)
		if cut || ws.WriteJSON(map[string]any{"id": f.ID, "ok": true, "result": result}) != nil {
			return
		}
	}
}

// answer plays tasks that end with their third action and pay 1.
func (s *shaky) answer(op, env, task string) (result map[string]any, cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch op {
	case "create":
		s.made++
		return map[string]any{"env_id": fmt.Sprint("e", s.made), "status": "idle"}, false
	case "reset":
		s.steps[env] = 0
		return map[string]any{
			"env_id": env, "episode_id": "p", "observation": map[string]any{"text": "Question: What is the age of Aba?"},
			"task": map[string]any{"task_id": task, "split": "train"},
		}, false
	case "step":
		if s.all++; slices.Contains(s.cutAt, s.all) {
			for _, ws := range s.open {
				_ = ws.NetConn().Close()
			}
			s.open, s.refuse = nil, 2
			return nil, true
		}
		s.steps[env]++
		r := map[string]any{
			"env_id": env, "episode_id": "p", "status": "running", "reward": 0, "return": 0, "done": false,
			"observation": map[string]any{"text": "Aba: person. age ?, friend Bebe, home Coco."},
		}
		if s.steps[env] == 3 {
			r["status"], r["done"], r["terminated"], r["reward"], r["return"] = "terminated", true, true, 1, 1
		}
		return r, false
	}
	return map[string]any{}, false
}

// play has a fixed policy play twelve tasks over real sockets.
func play(t *testing.T, s *shaky, retries int) ([]rollout.Episode, error) {
	t.Helper()
	s.steps = map[string]int{}
	srv := httptest.NewServer(s)
	defer srv.Close()
	dial := func(ctx context.Context) (rollout.Conn, error) {
		c, err := client.Dial(ctx, srv.URL, client.Options{})
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	c := rollout.New(rollout.Config{EnvType: "x", Live: 4, Retries: retries, Backoff: time.Millisecond}, dial, slog.New(slog.DiscardHandler))
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	var jobs []rollout.Job
	for i := range 12 {
		jobs = append(jobs, rollout.Job{TaskID: fmt.Sprint("t", i), Seed: int64(i), Task: uint64(i)})
	}
	player := rollout.NewMLP(policy.NewMLP(policy.MLPConfig{Buckets: 64, Hidden: 4}, 1))
	episodes, _, err := c.Play(t.Context(), player, policy.StreamKey{Seed: 5}, policy.SampleConfig{Temperature: 1}, jobs)
	return episodes, err
}

// TestServerGoesAwayAndReturns is B07 seen from the trainer: sockets that break
// in the middle of a run, twice, cost attempts and no episode, and what is
// played is the same as if nothing had happened.
func TestServerGoesAwayAndReturns(t *testing.T) {
	want, err := play(t, &shaky{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &shaky{cutAt: []int{9, 20}}
	got, err := play(t, s, 3)
	if err != nil {
		t.Fatal(err)
	}
	attempts := 0
	for i := range got {
		e := &got[i]
		attempts += e.Attempts
		if !e.Valid || e.Reward != 1 || e.TaskID != fmt.Sprint("t", i) {
			t.Errorf("episode %d: valid %v, reward %v, task %s, %s", i, e.Valid, e.Reward, e.TaskID, e.Failure)
		}
		if a, b := rollout.Text(e.Turns, e.Final), rollout.Text(want[i].Turns, want[i].Final); a != b {
			t.Errorf("episode %d differs from the one on a sound socket:\n%s\n%s", i, a, b)
		}
		if !slices.Equal(e.Record.LogP, want[i].Record.LogP) {
			t.Errorf("episode %d has other log-probabilities", i)
		}
	}
	if attempts <= len(got) {
		t.Errorf("%d attempts at %d episodes: nothing broke", attempts, len(got))
	}
	if s.dials < 7 {
		t.Errorf("%d dials, want 3 that worked and 4 turned away", s.dials)
	}
}

// TestBrokenForGood: an episode that cannot be played is excluded, not failed,
// and a server that stays away is an error instead of a run without episodes.
func TestBrokenForGood(t *testing.T) {
	got, err := play(t, &shaky{cutAt: []int{5}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	excluded := 0
	for i := range got {
		if !got[i].Valid {
			excluded++
			if got[i].Failure == "" || got[i].Reward != 0 || len(got[i].Record.Tokens) != 0 || got[i].Trajectory().Valid {
				t.Errorf("episode %d is excluded and still counts: %+v", i, got[i])
			}
		}
	}
	if excluded < 1 || excluded > 4 {
		t.Errorf("%d episodes excluded, want those of one broken socket", excluded)
	}
	if _, err := play(t, &shaky{refuse: 1 << 30}, 3); err == nil || !strings.Contains(err.Error(), "connect") {
		t.Errorf("a server that is never there: %v", err)
	}
}

// TestCancelledPlay: cancelling while there is no connection ends a run.
func TestCancelledPlay(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := rollout.New(rollout.Config{EnvType: "x", Live: 2}, func(ctx context.Context) (rollout.Conn, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}, slog.New(slog.DiscardHandler))
	player := rollout.NewMLP(policy.NewMLP(policy.MLPConfig{Buckets: 64, Hidden: 4}, 1))
	_, _, err := c.Play(ctx, player, policy.StreamKey{}, policy.SampleConfig{Temperature: 1}, []rollout.Job{{TaskID: "a"}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
