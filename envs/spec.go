package envs

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
)

// Spec describes an environment type. It is constant for the life of a Type
// and goes to clients as it is, so it holds nothing private.
type Spec struct {
	Name        string   // lower-case, e.g. "react"
	Version     string   // semver; a changed reward or dynamics is a new version
	Digest      string   // content hash of tasks and configuration, "sha256:<hex>"
	Summary     string   // one sentence for the catalogue
	Tools       []Tool   // what the agent may call, in OpenAI function form
	ActionHelp  string   // how an action is written as text
	ActionForms []string // whole actions as text, one for each thing that can be done, to be filled in
	Splits      []SplitInfo
	Limits      Limits // in force when a client asks for none
	MaxLimits   Limits // the most a client may ask for
	RewardMin   float64
	RewardMax   float64
	RewardParts []PartSpec
	Can         Capabilities
}

// Tool is one function the agent may call. Parameters is a JSON Schema object.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage
}

// SplitInfo names a split and its number of tasks.
type SplitInfo struct {
	Name  string // train, validation, test, or user
	Tasks int
}

// The names of splits.
const (
	SplitTrain      = "train"
	SplitValidation = "validation"
	SplitTest       = "test"
	SplitUser       = "user" // tasks that a user brought
)

// Limits bound an episode. Zero means "the environment type's own default".
type Limits struct {
	MaxSteps            int
	WallTimeSeconds     int
	MaxObservationBytes int
	MaxToolCalls        int
}

// PartSpec declares a named part of the reward.
type PartSpec struct {
	Name   string
	Kind   PartKind
	Weight float64
	Help   string
}

// Capabilities say which optional operations a Type supports.
type Capabilities struct {
	Seed       bool // Reset honours a seed
	Snapshot   bool // its Envs implement Forker
	Replay     bool // the same actions give the same bytes
	StepReward bool // rewards may come before the end
}

// Task is one problem of an environment type. Only ID, Split and Public ever
// leave the server.
type Task struct {
	ID      string         // stable and opaque: says nothing of the answer
	Split   string         //
	Public  map[string]any // JSON-encodable fields that a client may read
	Private any            `json:"-"` // gold answers, hidden cases, seeds: the Env's own type
}

// TaskSet is the tasks of an environment type. It is safe for concurrent use.
type TaskSet interface {
	// Len is the number of tasks in a split, 0 for an unknown split.
	Len(split string) int
	// At is task i of a split, 0 <= i < Len(split). Equal calls give equal tasks.
	At(split string, i int) (Task, error)
	// Find is the task of an id, or ErrNoTask.
	Find(id string) (Task, error)
}

// Type is an environment type: its description, its tasks, its instances. It
// is safe for concurrent use.
type Type interface {
	Spec() Spec
	Tasks() TaskSet
	// New makes an idle Env. An error means our side broke; one that wraps
	// ErrUnavailable means that this machine cannot run the type.
	New(ctx context.Context) (Env, error)
}

// Gated is implemented by a Type whose Envs share what few can use at one time,
// as the children of a sandbox.
type Gated interface {
	// Enter waits for a place, which leave gives back. Whoever plays an Env
	// enters before its clock starts: waiting for others is nobody's fault. The
	// error is the context's.
	Enter(ctx context.Context) (leave func(), err error)
}

// Scripted is implemented by a Type that can play itself. Scripts see private
// fields of a task, so they run on the server's side only: in the conformance
// suite, in "proctor demos" and in "proctor audit".
type Scripted interface {
	// Scripts lists the names: always "perfect" (earns RewardMax), "lazy" and
	// "cheat" (both earn RewardMin or 0) and "demo" (deliberately imperfect
	// demonstrations for a warm start), and further ones if the type has them.
	Scripts() []string
	// Script starts a player of one episode of t. Everything random in it is
	// drawn from rng. noise in [0,1] is how imperfect "demo" is; the others
	// ignore it.
	Script(name string, t Task, noise float64, rng *rand.Rand) (Script, error)
}

// ErrNoGold is wrapped by Type.Script's error where a task, such as one that a
// user brought, comes without a right answer for "perfect" or "demo" to play.
var ErrNoGold = errors.New("envs: the task has no right answer on record")

// Script plays one episode.
type Script interface {
	// Act answers an observation with an action. Deterministic in the
	// observations and the rng it was made with.
	Act(obs Observation) Action
}
