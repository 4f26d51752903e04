package episode

import "github.com/proctor-rl/proctor/api"

// Watcher hears of every episode as it goes: its beginning, its steps and its
// end in this order. Whatever it is told of, the Recorder or Manager.Episode
// shows to whoever asks after that. Its methods must neither block nor call the
// Manager.
type Watcher interface {
	// Changed reports an episode that began or ended.
	Changed(owner string, ep *api.Episode)
	// Advanced reports a step.
	Advanced(owner string, ep *api.Episode, st *api.Step)
	// Draining reports that no new episode will begin.
	Draining()
}

// Watch has w told of all that happens from now on. It is called once, before
// m is used.
func (m *Manager) Watch(w Watcher) { m.watch = w }

type nopWatch struct{}

func (nopWatch) Changed(string, *api.Episode)             {}
func (nopWatch) Advanced(string, *api.Episode, *api.Step) {}
func (nopWatch) Draining()                                {}
