// Package ei is expert iteration: supervised fine-tuning on the policy's own
// successful episodes, nothing else. It is the control that says how much of an
// improvement needs the comparison with failures.
//
// It plays no episodes; the trainer calls it through the table in trainer/algo.
package ei
