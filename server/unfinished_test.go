package server_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
)

// An episode that is ended before its end has no return, so that whoever ends
// those that lose would look better than it is: how many there were, and by what
// they ended, is seen.
func TestUnfinishedEpisodesAreCounted(t *testing.T) {
	var later atomic.Int64
	w := serve(t, episode.Config{DefaultTTL: time.Hour, Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }}, server.Config{})
	counted := func(by, n string) {
		t.Helper()
		if text := string(w.do("GET", "/metrics", nil).raw); !strings.Contains(text, `proctor_episodes_unfinished_total{by="`+by+`",env="toy"} `+n+"\n") {
			t.Errorf("not %s by %s", n, by)
		}
	}
	by := func(ep, want string) {
		t.Helper()
		if e := w.do("GET", "/episodes/"+ep, nil); e.str("closed_by") != want {
			t.Errorf("want %q: %s", want, e.raw)
		}
	}
	for _, who := range []string{"client", "idle", "drain"} {
		counted(who, "0")
	}
	id, ep := w.env(nil)
	w.step(id, "noop")
	w.do("DELETE", "/envs/"+id, nil)
	by(ep, "client")
	id, ep = w.env(nil)
	w.step(id, "noop")
	w.do("POST", "/envs/"+id+"/reset", nil) // and a second one, which has no step
	by(ep, "client")
	w.do("DELETE", "/envs/"+id, nil)
	counted("client", "2")
	id, ep = w.env(nil)
	w.step(id, "finish[42]")
	w.do("DELETE", "/envs/"+id, nil)
	by(ep, "")
	counted("client", "2")
	id, ep = w.env(nil)
	w.step(id, "noop")
	later.Store(int64(2 * time.Hour))
	w.mgr.Sweep()
	by(ep, "idle")
	counted("idle", "1")
	id, ep = w.env(nil)
	w.step(id, "noop")
	w.mgr.Drain(t.Context())
	by(ep, "drain")
	counted("drain", "1")
	counted("client", "2")
}
