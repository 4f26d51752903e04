// Package envs is the contract between an environment and whatever serves it.
//
// It holds the words (Spec, Task, Action, Observation, Outcome, Grade), the
// three-method life of an environment (Reset, Step, Score, then Close) and an
// explicit Registry. It does no I/O, knows no transport and no concrete
// environment. The server reads environments through it; each folder below
// implements one environment type with it; envs/envtest is the conformance
// suite that every implementation runs; envs/all is the only list of them.
package envs
