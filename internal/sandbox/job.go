package sandbox

import (
	"fmt"
	"time"

	"github.com/proctor-rl/proctor/internal/sandbox/pyval"
)

// Files is a workspace: slash-separated relative paths to contents. It lives
// in Go memory and becomes real only in a child's own tmpfs.
type Files map[string][]byte

// Limits bound one child. The zero value of a field takes the default of the
// pool's Config, whose own zero takes DefaultLimits.
type Limits struct {
	Wall        time.Duration // from the start of the job to its answer
	Asleep      time.Duration // the same for code that is asleep then; default: Wall, where that is given
	CPU         time.Duration // rounded up to a second; one process
	MemoryBytes int64         // address space, and the cgroup's memory where there is one
	Pids        int           // processes and threads
	DiskBytes   int64         // the tmpfs
	Inodes      int           // files and folders
	FileBytes   int64         // one file
	OutputBytes int64         // stdout and stderr together; more ends the job
	AnswerBytes int64         // all answers together; more ends the job
}

// DefaultLimits are the limits that apply where nothing else is said.
func DefaultLimits() Limits {
	return Limits{
		Wall: 15 * time.Second, Asleep: 5 * time.Second, CPU: 5 * time.Second,
		MemoryBytes: 512 << 20, Pids: 32,
		DiskBytes: 16 << 20, Inodes: 2000, FileBytes: 8 << 20,
		OutputBytes: 1 << 20, AnswerBytes: 8 << 20,
	}
}

// Fault says how the code in a child failed to serve its job. It is always
// the fault of that code, never ours.
type Fault string

// The faults of a job. FaultNone means that the job was served, which says
// nothing about whether its answers are right.
const (
	FaultNone     Fault = ""
	FaultWall     Fault = "wall"     // past its wall time, or asleep past what code may sleep
	FaultCPU      Fault = "cpu"      // past its CPU time
	FaultMemory   Fault = "memory"   // killed for its memory
	FaultOutput   Fault = "output"   // wrote too much
	FaultCrash    Fault = "crash"    // the process ended or was killed before it answered
	FaultProtocol Fault = "protocol" // wrote something that is not an answer
	FaultImport   Fault = "import"   // importing the module raised
	FaultFiles    Fault = "files"    // the workspace does not fit the limits or has an unusable path
)

// Usage is what a job used, as far as it is known. The CPU and fault counts
// cover the child's first process.
type Usage struct {
	Wall        time.Duration // from handing over the job to the last answer
	CPU         time.Duration
	MaxRSSBytes int64
	MinorFaults int64 // since the child was forked, pre-faulting included
}

// Call is one call of a function of the module.
type Call struct {
	Fn       string // name, or dotted path such as "Account.transfer"
	Args     []pyval.Value
	Kwargs   []pyval.Pair // keys are strings
	WantArgs bool         // return the arguments as they are after the call
}

// CallsJob asks for calls of one module. The child sees the calls in the given
// order, in pieces of unpredictable length, each under an unpredictable id.
type CallsJob struct {
	Files  Files
	Module string // default "solution"
	Calls  []Call
	Limits Limits
}

// Answer is what one call came to.
type Answer struct {
	Done   bool          // false if the child never answered
	Value  pyval.Value   // the result, if nothing was raised
	Raised []Class       // the exception's class and its bases, nearest first
	Args   []pyval.Value // after the call, if they were wanted
	Kwargs []pyval.Value // likewise
}

// Class names a Python class.
type Class struct {
	Name    string
	Builtin bool // it is the built-in class itself, not one that took its name
}

// CallsResult is the outcome of a CallsJob. Answers has one entry per call, in
// the order of the job.
type CallsResult struct {
	Answers []Answer
	Fault   Fault
	Detail  string // about the fault, bounded and printable; may quote agent text
	Usage   Usage
}

// PytestJob asks for a run of pytest in one process with the code it tests.
type PytestJob struct {
	Files   Files
	Targets []string // test files; default: every test_*.py and *_test.py in Files
	Limits  Limits
	// Quiet leaves out the text output.
	Quiet bool
}

// ProxiedJob asks for a run of trusted pytest files against a proxy of the
// agent's modules.
type ProxiedJob struct {
	Files   Files // the agent's files; modules among them are proxied
	Tests   Files // trusted; the agent's process never sees them
	Targets []string
	// Functions names, as "module.name", what is a function whatever the
	// agent has made of it. A class in its place is called like one, and its
	// objects have no say in the tests' comparisons.
	Functions []string
	// Original are the files that the task came with. A module of any other
	// file does not stand in for one that the interpreter has by its name: the
	// tests may need that one to work out what they want.
	Original Files
	// Freeze keeps from the tests what calls do to their arguments, except to
	// those that Written names as PytestResult.Changed does.
	Freeze  bool
	Written []string
	Limits  Limits // of the agent's process, and wall time of the whole
}

// TestOutcome is what became of one test.
type TestOutcome string

// The outcomes of a test.
const (
	TestPassed  TestOutcome = "passed"
	TestFailed  TestOutcome = "failed"
	TestError   TestOutcome = "error"
	TestSkipped TestOutcome = "skipped" // xfail included
)

// Test is one test by its node id, as the collector names it.
type Test struct {
	ID      string
	Outcome TestOutcome
	Message string // bounded, printable
}

// PytestResult is the outcome of a run of pytest. After PytestJob it is what
// the agent's process claims; after ProxiedJob it can be believed.
type PytestResult struct {
	Tests     []Test // in the order of the run
	Passed    int
	Failed    int
	Errors    int // errors in collection, setup and teardown
	Skipped   int
	ExitCode  int    // pytest's own; -1 if it never came
	Output    string // head and tail of the text output, printable
	Truncated int    // bytes left out of Output
	Fault     Fault
	Detail    string
	Usage     Usage

	// Changed names, after ProxiedJob, the lists, sets and dicts that some call
	// left otherwise than they were, whether or not the tests could see it: as
	// "module.function#0" or ".method#keyword".
	Changed []string
}

// AllPassed reports whether at least one test ran, all that ran passed, and
// pytest agreed to the end.
func (r PytestResult) AllPassed() bool {
	return r.Fault == FaultNone && r.Passed > 0 && r.Failed == 0 && r.Errors == 0 && r.ExitCode == 0
}

// InfraError says that the sandbox itself failed. It is ErrInfra to errors.Is.
type InfraError struct {
	Op  string
	Err error
}

// Error implements error.
func (e *InfraError) Error() string { return fmt.Sprintf("sandbox: %s: %v", e.Op, e.Err) }

// Unwrap returns the cause.
func (e *InfraError) Unwrap() error { return e.Err }

// Is makes every InfraError an ErrInfra.
func (e *InfraError) Is(target error) bool { return target == ErrInfra }
