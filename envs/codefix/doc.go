// Package codefix is the code-repair environment: an issue text, a small
// Python workspace with failing visible tests, tools to read and change it,
// and a verdict from hidden cases that the agent's code never meets.
//
// The workspace is a map in Go memory. It is materialised only into a
// single-use sandbox child, once to run the visible tests and once more, from
// the map again, to grade. Whatever code does to its own copy of the files is
// thrown away with the child. Tests, runner configuration and paths that could
// shadow a module are never writable.
//
// The package holds the environment, the tasks that users bring and the
// built-in tasks; package grammar below it generates the small functions that
// a small policy can train on. It knows no transport and starts no process
// itself: a Runner does, which the server builds from internal/sandbox.
package codefix
