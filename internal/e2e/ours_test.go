package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// interpreters are the warm interpreters of this process: its only children.
func interpreters() []int {
	var out []int
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, l := range lists {
		text, err := os.ReadFile(l)
		if err != nil {
			continue // the thread has just ended
		}
		for _, f := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(f); err == nil {
				out = append(out, pid)
			}
		}
	}
	return out
}

// A fault of ours is no reward: with every interpreter killed as soon as it
// is there, an episode fails with null instead of 0, is recorded so, and the
// next one is judged again.
func TestFaultOfOursIsNoReward(t *testing.T) {
	tasks := t.TempDir()
	if err := os.Mkdir(filepath.Join(tasks, "codefix"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := codeTasks("testdata/cases", filepath.Join(tasks, "codefix")); err != nil {
		t.Fatal(err)
	}
	base := Serve(t, "--tasks", tasks, "--log-level", "error")
	ctx := t.Context()
	e, err := open(ctx, base, "codefix", "listed")
	if err != nil {
		t.Fatal(err)
	}
	if len(interpreters()) == 0 {
		t.Fatal("no interpreter was found")
	}
	stop, kills := make(chan struct{}), sync.WaitGroup{}
	kills.Go(func() {
		for {
			for _, pid := range interpreters() {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have gone
			}
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	slow, err := toolCalls("edit_file", map[string]any{"path": "solution.py", "content": "import time\ntime.sleep(4)\n"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.step(ctx, slow); err != nil {
		t.Fatal(err)
	}
	finish, err := toolCalls("finish", map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Post(ctx, e.base+"/envs/"+e.env+"/step", map[string]any{"action": finish})
	close(stop)
	kills.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if _, paid := r.reward(); paid {
		t.Errorf("a fault of ours was judged: %.400s", r.Raw)
	}
	if strings.Contains(r.Raw, "/usr/") || strings.Contains(r.Raw, "signal") {
		t.Errorf("the fault's text is in the reply: %.400s", r.Raw)
	}
	id := fmt.Sprint(e.replies[0].Body["episode_id"])
	rec, err := get(base + "/episodes/" + id)
	if err != nil {
		t.Fatal(err)
	}
	if rec["status"] != "failed" || rec["return"] != nil {
		t.Errorf("the record says %v, reward %v", rec["status"], rec["return"])
	}
	var c Case
	text, err := os.ReadFile("testdata/cases/honest-control/own-hc-11.json")
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 60 { // an interpreter killed a moment ago may still be missed
		if err = c.Play(ctx, base); err == nil {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	t.Errorf("later episodes: %v", err)
}

func get(url string) (map[string]any, error) {
	resp, err := http.Get(url) //nolint:noctx // bounded by the test
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() // read to its end below
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		return nil, err
	}
	var out map[string]any
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		return nil, fmt.Errorf("%s: status %d, %.200s: %w", url, resp.StatusCode, b.String(), err)
	}
	return out, nil
}
