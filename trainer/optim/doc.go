// Package optim updates flat parameter vectors: AdamW with decoupled weight
// decay, clipping by the global norm, and learning-rate schedules.
//
// It knows no model: which ranges of the vector decay is told at construction.
// The sums run in one fixed order, so results do not depend on GOMAXPROCS. The
// algorithms below trainer/algo and the supervised warm start call it.
package optim
