// Package reinforce is the plain policy gradient of Williams (1992) with a
// choice of baselines: none, a running mean, the batch's mean, or the group's.
//
// It makes one optimizer step on the batch that was just sampled, so there is
// no ratio to clip. It plays no episodes; the trainer calls it through the
// table in trainer/algo.
package reinforce
