// Package trainer is the training loop: it warms a policy up on demonstrations,
// collects episodes over the wire, hands them to an algorithm, evaluates,
// records and checkpoints.
//
// A run is a folder that holds everything about it: the resolved
// configuration, one line of metrics for each update, a curve, samples,
// checkpoints and the best policy so far. A run that was stopped and resumed
// ends with the same parameters, bit for bit, as one that was not. Rewards come
// from the server only: nothing here or below imports an environment.
// internal/cli/trainer calls it.
package trainer
