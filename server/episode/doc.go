// Package episode runs environments: it owns the live envs and the episodes
// they play, and is the one place where limits, order, retries and the end of
// an episode are decided.
//
// It knows no transport: package server calls a Manager from REST and WebSocket
// handlers, and both get the same answers. It stores nothing: finished and
// started episodes go to a Recorder, measurements to an Observer. What the
// agent causes is an outcome; what the caller causes is an *Error with the
// contract's code; what our side breaks ends the episode as failed with no
// reward, and its cause is logged here, once.
package episode
