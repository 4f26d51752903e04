// Package grammar generates the repair tasks that a small policy can train on:
// one short function over a list, put together from an aggregate, a filter, a
// map and a slice, with one mutated line.
//
// A specification is a choice of the four parts; constants and names vary
// below it. A fifth of the specifications is held out for the test split by
// hash, and a twentieth for validation. Everything is computed in Go, by a
// small interpreter that follows Python's integers, so a task costs no process;
// the agent's edits are run in the sandbox like any other.
//
// Only codefix's callers construct it, as environment type "codefix-grammar".
package grammar
