// Package answer decides whether an answer is the right one, by type and
// exactly: no containment, no overlap score, no judge.
//
// A Gold is a typed right answer. Strings are compared after a small, documented
// folding that never empties them; numbers and dates are compared by value. It
// does not know what a question or an episode is. Package react calls it when
// an agent finishes.
package answer
