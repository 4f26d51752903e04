// Package grade decides in Go whether the answers of untrusted code are right.
//
// A Suite holds the hidden cases of a task. Grade plays them against a
// sandbox.Pool in two processes, in two shuffled orders with some cases
// repeated, and compares what comes back. Nothing that is expected ever leaves
// this process, and a child cannot say "passed": it can only answer, and the
// answers are either right or not.
//
// The package knows no environment and gives no reward; the code environment
// and the admission checks of tasks turn its Verdict into one.
package grade
