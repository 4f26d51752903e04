package episode

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/envs"
)

// slotKey finds an env. Owners do not share ids, so that nobody learns from a
// refusal which ids others use.
type slotKey struct{ owner, id string }

// slot is a live env. mu guards everything below it and is never held while
// the env runs; busy is what keeps calls on the env apart.
type slot struct {
	id      string
	owner   string
	typ     envs.Type
	spec    envs.Spec
	limits  envs.Limits
	labels  *api.Labels
	group   string
	ttl     time.Duration
	created time.Time

	mu      sync.Mutex
	env     envs.Env // nil after it broke; the next reset makes another
	run     *run     // the present or last episode
	resets  int
	busy    *op
	closed  bool
	bound   *Binding // the socket that keeps it, if any
	expires time.Time
	grace   time.Duration // above 0 once its socket is gone: how long an unused env lives from then on

	resetKey  string // idempotency key of the last reset
	resetBody [32]byte
	resetDone *api.ResetResult
}

// run is an episode in play.
type run struct {
	rec      Record
	task     envs.Task
	limits   envs.Limits
	next     int // index of the next step
	total    float64
	calls    int           // tool calls played
	size     int           // bytes of the record so far, see maxRecordBytes
	held     *atomic.Int64 // its owner's, where size is counted until the end
	deadline time.Time
	left     time.Duration // of a copy: how far the deadline was
	over     bool
	closer   api.ClosedBy    // what ends its env, once that has begun; empty for the client
	last     *api.StepResult // reply to step next-1
	action   json.RawMessage // its action
	keys     map[string]int  // idempotency keys used, to the index of their step
}

// op is one call that runs on an env. Whoever finishes it first, the call or
// the watchdog, answers.
type op struct {
	cancel context.CancelFunc
	reply  chan opReply // room for one
	gone   bool         // guarded by slot.mu: the watchdog answered for it
}

type opReply struct {
	step  *api.StepResult
	reset *api.ResetResult
	err   error
}

// Binding ties envs to a socket: when it is released they live on for its
// grace and no longer.
type Binding struct{ Grace time.Duration }

// touch puts the end off. The caller holds s.mu.
func (s *slot) touch(now time.Time) {
	ttl := s.ttl
	if s.grace > 0 {
		ttl = min(ttl, s.grace)
	}
	s.expires = now.Add(ttl)
}

// view is s as the contract shows it. The caller holds s.mu.
func (s *slot) view() api.Env {
	e := api.Env{
		EnvID: s.id, Owner: s.owner, Type: s.spec.Name, Version: s.spec.Version, Status: api.EnvStatusIdle,
		GroupID: s.group, Labels: s.labels, Limits: WireLimits(s.limits),
		TTLSeconds: int(s.ttl / time.Second), CreatedAt: s.created.UTC(), ExpiresAt: s.expires.UTC(),
	}
	if r := s.run; r != nil {
		e.EpisodeID = r.rec.Episode.EpisodeID
		e.EpisodeStatus = r.rec.Episode.Status
		next := r.next
		e.Step = &next
		e.Status = api.EnvStatusRunning
		if r.over {
			e.Status = api.EnvStatusOver
		}
	}
	return e
}
