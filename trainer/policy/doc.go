// Package policy defines what the training loop needs of a token-level policy
// and implements two: a causal transformer and an MLP over hashed features.
//
// It knows tokens, log-probabilities and gradients, never rewards, episodes or
// the wire: trainer/rollout drives a Sampler, trainer/algo sets the gradients
// of a Batch.
package policy
