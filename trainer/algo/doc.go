// Package algo is the table of training algorithms. Each lives in a folder of
// its own and can be read there from top to bottom: the shared arithmetic is in
// trainer/rl, and algorithms never import each other.
//
// An algorithm turns the groups of one update into optimizer steps on a policy.
// It plays no episode and knows no environment. The trainer calls it.
package algo
