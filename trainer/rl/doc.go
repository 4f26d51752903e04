// Package rl is the arithmetic of policy-gradient training as pure functions
// over float64: returns, advantages, clipped losses with their closed-form
// gradients, KL estimators, aggregation, metrics and the statistics of an
// evaluation.
//
// It does no I/O, knows no model and draws no random number except through a
// generator it is handed. The algorithms below trainer/algo are written with
// it; the trainer uses its statistics for evaluation.
//
// Letters: R is the return of an episode, A an advantage, rho the probability
// ratio exp(logpNew-logpOld), K the size of a group, N the number of tokens
// that the policy chose. Shape mistakes are programming errors and panic with
// an "rl: " constant.
package rl
