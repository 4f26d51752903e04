// Package trainer is the body of the trainer command: one file for each
// subcommand.
//
// Main can be called by tests with its arguments and streams. Results go to
// stdout, words to stderr; the exit code is 0 for success, 1 for failure and 2
// for bad usage. It imports no environment and no grader: where a command needs
// a server or demonstrations of its own, it runs the proctor program beside it.
package trainer
