package episode

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/envs"
)

var errReward = errors.New("reward is not a finite number")

// settle writes one step into the episode and makes its reply. If the step
// ended the episode, done is its record. The caller holds s.mu.
func (m *Manager) settle(s *slot, r *run, p played, raw json.RawMessage) (res *api.StepResult, done *Record) {
	ep := &r.rec.Episode
	status := api.StatusRunning
	switch {
	case p.err != nil && s.closed:
		status = api.StatusClosed
	case p.err != nil:
		status = api.StatusFailed
		p.out = envs.Outcome{StateKey: p.out.StateKey}
		p.stop = nil
	case p.out.Terminated:
		status = api.StatusTerminated
	case p.stop != nil:
		status = api.StatusTruncated
	}
	index := r.next
	r.next++
	r.calls += p.calls
	r.size += p.size
	r.held.Add(int64(p.size))
	var reward *float64
	if p.err == nil {
		v := p.out.Reward
		reward = &v
		r.total += v
	}
	st := api.Step{
		Step: index, Action: raw, Observation: wireObservation(p.out.Observation, r.limits.MaxObservationBytes),
		Reward: reward, RewardParts: wireParts(p.out.Parts),
		Terminated: status == api.StatusTerminated, Truncated: status == api.StatusTruncated, Status: status,
		StopReason: p.stop, StateKey: p.out.StateKey, Info: wireInfo(p.out.Info), Grade: wireGrade(p.out.Grade),
		TimingMs: api.Timing{Queue: ms(p.queue), Exec: ms(p.exec), Grade: ms(p.grade)},
	}
	r.rec.Steps = append(r.rec.Steps, st)
	ep.Steps = r.next
	r.rec.Unplayed = p.late
	ep.Grade = st.Grade
	m.watch.Advanced(r.rec.Owner, ep, &st)
	if status != api.StatusRunning {
		done = m.finish(r, status, p.stop)
	} else {
		total := r.total
		ep.Return = &total
	}
	res = &api.StepResult{
		EnvID: s.id, EpisodeID: ep.EpisodeID, Step: index, Observation: st.Observation,
		Reward: reward, RewardParts: st.RewardParts, Terminated: st.Terminated, Truncated: st.Truncated,
		Done: status != api.StatusRunning, Status: status, StopReason: p.stop, Return: ep.Return,
		StateKey: st.StateKey, Info: st.Info, Grade: st.Grade, TimingMs: st.TimingMs,
		Budget: api.Budget{
			StepsLeft:     max(0, r.limits.MaxSteps-r.next),
			ToolCallsLeft: max(0, r.limits.MaxToolCalls-r.calls),
			SecondsLeft:   max(0, r.deadline.Sub(m.cfg.Now()).Seconds()),
		},
	}
	r.last, r.action = res, raw
	return res, done
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// finish latches an episode's end. The caller holds the slot's lock
// and passes the record on by settleRecord after it let go.
func (m *Manager) finish(r *run, status api.Status, stop *api.StopReason) *Record {
	r.over = true
	r.held.Add(-int64(r.size))
	ep := &r.rec.Episode
	ep.Status, ep.StopReason = status, stop
	now := m.cfg.Now().UTC()
	ep.EndedAt = &now
	ep.Return = nil
	if status == api.StatusClosed {
		if ep.ClosedBy = r.closer; ep.ClosedBy == "" {
			ep.ClosedBy = api.ClosedByClient
		}
	}
	if status != api.StatusFailed && status != api.StatusClosed {
		total := r.total
		ep.Return = &total
	}
	rec := r.rec
	return &rec
}

// settleRecord hands an ended episode over. It takes no lock of a slot.
func (m *Manager) settleRecord(rec *Record) {
	if rec == nil {
		return
	}
	m.rec.Ended(*rec)
	m.watch.Changed(rec.Owner, &rec.Episode)
	m.mu.Lock()
	s := m.live[rec.Episode.EpisodeID]
	delete(m.live, rec.Episode.EpisodeID)
	m.mu.Unlock()
	if s != nil { // from here on it is read where it is recorded
		s.mu.Lock()
		if r := s.run; r != nil && r.rec.Episode.EpisodeID == rec.Episode.EpisodeID {
			r.rec.Steps = nil
		}
		s.mu.Unlock()
	}
	m.obs.Ended(&rec.Episode)
}

// Episode is a running episode as it stands, with the steps so far.
func (m *Manager) Episode(id string) (Record, bool) {
	m.mu.RLock()
	s := m.live[id]
	m.mu.RUnlock()
	if s == nil {
		return Record{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil || s.run.rec.Episode.EpisodeID != id {
		return Record{}, false
	}
	rec := s.run.rec
	rec.Steps = rec.Steps[:len(rec.Steps):len(rec.Steps)]
	return rec, true
}
