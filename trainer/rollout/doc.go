// Package rollout plays episodes over the wire and records them as
// trajectories.
//
// A Collector keeps many episodes going at once on one WebSocket: while some
// wait for the server, a Player picks actions for the others in one batch. What
// a trajectory holds depends on the run's seed, the update, the task and the
// member only, never on which reply came first. An episode that failed on our
// side is played again and, if it keeps failing, reported as not valid; it is
// never given a reward of 0.
//
// The package also owns the text that a language-model policy sees. It computes
// no loss and knows no environment. The trainer calls it.
package rollout
