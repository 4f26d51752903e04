//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// hostileNames are what a client could call things by. Names that are told
// apart must stay so.
var hostileNames = []string{
	"plain", "Plain", "plain ", " plain", "../../etc/passwd", "..", ".", "/", "a/b", `a\b`, "a\x00b", "a\nb", "a\r\nb", "\x1b[2J", "\u202egnp.exe",
	"caf\u00e9", "cafe\u0301", "\u0440lain", "\ufeffplain", "pl\u200bain", "%00", "%2e%2e%2f", "' OR 1=1 --", `"; DROP TABLE episodes; --`, "{}", "null", "NaN", "-0",
	"<script>alert(1)</script>", "=cmd()", "\u2028", "\U0001f600", strings.Repeat("x", 128), "a,b", `a"b`, "$(id)", "`id`", "CON", "nul.txt", "g.1",
}

// A server that is killed in the midst of episodes with names like these
// leaves a store that can be read, with every episode that was begun, each
// under its own names.
func TestKilledUnderHostileNames(t *testing.T) {
	data := t.TempDir()
	args := []string{"--data", data, "--sandbox", "off"}
	type begun struct {
		group, label string
		reward       any // nil where its end was not answered
	}
	known := map[string]begun{}
	refused := map[string]int{}
	for round := range 3 {
		base, cmd := serveApart(t, args...)
		var mu sync.Mutex
		var group sync.WaitGroup
		for i := range 4 {
			group.Go(func() {
				for n, name := range hostileNames {
					if n%4 != i {
						continue
					}
					label := hostileNames[(n+round+1)%len(hostileNames)]
					own := fmt.Sprint(name, round)
					if len(own) > 128 {
						own = name[:127] + fmt.Sprint(round)
					}
					r, err := Post(context.WithoutCancel(t.Context()), base+"/envs", map[string]any{"type": "react", "group_id": own, "labels": map[string]string{"k": label, "team": name}})
					if err != nil {
						return // killed
					}
					if r.Status != http.StatusCreated {
						mu.Lock()
						refused[fmt.Sprintf("%q, %q: %.300s", own, label, r.Raw)] = r.Status
						mu.Unlock()
						continue
					}
					e := &episode{base: base, env: fmt.Sprint(r.Body["env_id"])}
					r, err = Post(context.WithoutCancel(t.Context()), base+"/envs/"+e.env+"/reset", map[string]any{"split": "train", "index": n, "policy_version": label})
					if err != nil {
						return
					}
					id := fmt.Sprint(r.Body["episode_id"])
					// A step's answer says that the reset was taken long ago; its end, that it is recorded.
					action := any("Thought: \x1b[31m\u202e\nAction: search[\x00" + name + "]")
					if n%2 == 0 {
						action = "Action: finish[" + name + "]"
					}
					e.replies = append(e.replies, r)
					s, err := e.step(context.WithoutCancel(t.Context()), action)
					if err != nil || r.Status != http.StatusOK {
						if err != nil && s.Status != 0 {
							t.Errorf("%q: %v", name, err)
						}
						return
					}
					mu.Lock()
					b := begun{own, label, nil}
					if s.done() {
						b.reward = s.Body["return"]
					}
					known[id] = b
					mu.Unlock()
				}
			})
		}
		time.Sleep(time.Duration(60+round*60) * time.Millisecond)
		_ = cmd.Process.Kill() // in the midst of it, or after it on a fast machine
		group.Wait()
		_ = cmd.Wait() // it was killed
	}
	for what, status := range refused {
		if status >= 500 {
			t.Errorf("%s: status %d", what, status)
		}
	}
	base, _ := serveApart(t, args...)
	resp, err := http.Get(base + "/episodes/export?format=jsonl") //nolint:noctx // bounded by the test
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() // read to its end below
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("a line of the export cannot be read: %v: %.200q", err, line)
		}
		found[fmt.Sprint(row["episode_id"])] = true
	}
	ended := 0
	for id, want := range known {
		rec, err := get(base + "/episodes/" + id)
		if err != nil {
			t.Fatal(err)
		}
		if want.reward != nil {
			ended++
			if rec["status"] != "terminated" || rec["return"] != want.reward || !found[id] {
				t.Errorf("%+v ended and is recorded as %v with %v, exported %t", want, rec["status"], rec["return"], found[id])
			}
		}
		if rec["status"] == float64(http.StatusNotFound) {
			if want.reward != nil {
				t.Errorf("%+v is lost", want)
			}
			continue
		}
		labels, _ := rec["labels"].(map[string]any)
		if rec["group_id"] != want.group || labels["k"] != want.label {
			t.Errorf("%q with %q is recorded as %q with %v", want.group, want.label, rec["group_id"], labels["k"])
		}
	}
	if ended == 0 {
		t.Error("no episode ended before a kill")
	}
	t.Logf("%d begun, %d ended, %d refused", len(known), ended, len(refused))
}
