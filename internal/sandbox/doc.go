// Package sandbox runs untrusted Python on Linux, fast, and brings back
// nothing but data.
//
// A Pool keeps single-use children ready: each was forked from a warm
// interpreter, sits in its own user, mount, pid, network, IPC and UTS
// namespaces on a read-only root without /proc, has no capability left, and
// is held by a seccomp allowlist, Landlock, resource limits and, where the
// machine gives one, a cgroup. A child serves one job and is killed with all
// its descendants.
//
// Three kinds of job exist:
//
//   - Calls gives a child the files and the arguments of some calls and brings
//     back tagged values. Expected values never enter a child; package grade
//     compares in Go. This is what a reward may rest on.
//   - Proxied runs trusted pytest text in one child against a proxy of the
//     module whose code runs in another. A reward may rest on it as well, if
//     what tests see of changed arguments is frozen where a right solution
//     changes none: see ProxiedJob.Freeze.
//   - Pytest runs visible tests in the same process as the agent's code, for
//     the agent to look at. Its counts can be forged by that code and must
//     never give reward.
//
// A run ends within a second of each of its limits. CPU time is there to end
// code that works, and two limits of time to end code that does not: past
// Limits.Asleep, a run ends as soon as it is caught without a thread that is
// runnable or waits for the disk; past Limits.Wall, it ends. Code that is runnable
// may be short of processor by no doing of its own, so an environment sets the
// second well above the first. A caller with a deadline gets its answer before
// that.
//
// Whatever the code in a child does, such as crashing, hanging or flooding,
// is a Fault in an ordinary result. An error is always ours: it wraps ErrInfra
// (the sandbox broke, the caller records reward null), ErrUnavailable (this
// machine cannot run it) or is the context's.
//
// The package knows nothing of environments, tasks, rewards or HTTP, and
// measures through an Observer, not through a metrics library. The code
// environment and the commands that check tasks call it.
package sandbox
