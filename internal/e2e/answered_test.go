//go:build linux

package e2e

import (
	"fmt"
	"sync"
	"testing"
)

// What a client was told of an episode's end is what is recorded, though the
// server is killed at the same moment.
func TestAnswersAreRecorded(t *testing.T) {
	args := []string{"--data", t.TempDir(), "--sandbox", "off"}
	type told struct {
		id     string
		reward any
	}
	var all []told
	for round := range 6 {
		base, cmd := serveApart(t, args...)
		var mu sync.Mutex
		var group sync.WaitGroup
		for range round + 1 {
			group.Go(func() {
				e, err := openReact(t, base)
				if err != nil {
					return // the server has been killed for another
				}
				r, err := e.step(t.Context(), "Action: finish[nothing]")
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					all = append(all, told{fmt.Sprint(e.replies[0].Body["episode_id"]), r.Body["return"]})
					_ = cmd.Process.Kill() // it may be killed already
				}
			})
		}
		group.Wait()
		_ = cmd.Wait() // it was killed
	}
	base, _ := serveApart(t, args...)
	for _, want := range all {
		rec, err := get(base + "/episodes/" + want.id)
		if err != nil || rec["status"] != "terminated" || rec["return"] != want.reward {
			t.Errorf("answered %v, recorded %v with %v, %v", want.reward, rec["status"], rec["return"], err)
		}
	}
	if len(all) < 6 {
		t.Errorf("%d answers", len(all))
	}
}

// openReact begins an episode of a built-in task.
func openReact(t *testing.T, base string) (*episode, error) {
	r, err := Post(t.Context(), base+"/envs", map[string]any{"type": "react"})
	if err != nil {
		return nil, err
	}
	e := &episode{base: base, env: fmt.Sprint(r.Body["env_id"])}
	r, err = Post(t.Context(), base+"/envs/"+e.env+"/reset", map[string]any{"split": "train", "index": 0})
	e.replies = append(e.replies, r)
	return e, err
}
