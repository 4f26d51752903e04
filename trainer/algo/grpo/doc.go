// Package grpo is group-relative policy optimisation: several episodes of one
// task, each compared with the others, and a clipped policy-gradient loss.
//
// The defaults follow Dr. GRPO (no division by the group's deviation, no length
// bias) with DAPO's wider upper clip. Options give the published GRPO, RLOO,
// DAPO, GSPO and CISPO. It plays no episodes; the trainer calls it through the
// table in trainer/algo.
package grpo
