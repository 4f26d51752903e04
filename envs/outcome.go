package envs

import "encoding/json"

// Action is what the agent did. Exactly one of Text and ToolCalls is set; both
// empty is an empty text.
type Action struct {
	Text      string     // in the environment's own scaffold, any bytes at all
	ToolCalls []ToolCall // OpenAI tool calls, played in order
}

// ToolCall is one call in OpenAI's shape. Arguments is the JSON text the model
// wrote, which may be malformed.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

// Observation is what the agent sees next: only what is new, three ways.
type Observation struct {
	Text     string          // for a text scaffold, without its "Observation:" prefix
	Messages []Message       // the same as chat messages
	Data     json.RawMessage // the same as data, null if the type has none
	Elided   int             // bytes cut to honour Limits.MaxObservationBytes
}

// Message is a chat message.
type Message struct {
	Role       string // system, user, tool
	Content    string
	Name       string
	ToolCallID string
}

// Outcome is what one action led to.
type Outcome struct {
	Observation Observation
	Reward      float64 // equals the sum of value*weight over Parts
	Parts       []RewardPart
	Terminated  bool   // the task's own end
	Grade       *Grade // set exactly when the episode ends
	Info        Info
	StateKey    string // hash of the full state before the action; equal states have equal keys
}

// PartKind says what a part of the reward measures.
type PartKind string

// The kinds of reward parts.
const (
	PartOutcome PartKind = "outcome"
	PartProcess PartKind = "process"
	PartFormat  PartKind = "format"
	PartPenalty PartKind = "penalty"
)

// RewardPart is one named part of a reward.
type RewardPart struct {
	Name   string
	Kind   PartKind
	Value  float64
	Weight float64
}

// Grade is the verdict at the end of an episode. It carries counts only: no
// test name, expected value or hidden input is ever in it.
type Grade struct {
	Passed    bool
	Score     float64
	Verifier  Verifier
	Tests     TestCounts
	Integrity Integrity
}

// Verifier identifies the code that decided.
type Verifier struct {
	Name    string
	Version string
	Digest  string
}

// TestCounts count hidden checks.
type TestCounts struct {
	Passed int
	Failed int
	Errors int
}

// Integrity reports attempts to win by other means than the task.
type Integrity struct {
	OK    bool
	Flags []string // from a closed set per environment type
}

// Info is what the environment understood of the action.
type Info struct {
	ParseError string      // why the action could not be understood, empty if it was
	Action     *Understood // nil where nothing was understood
	ToolError  string      // the tool ran and refused or failed
	Flags      []string    // integrity flags raised by this action
}

// Understood is an action as the environment read it.
type Understood struct {
	Tool      string
	Arguments map[string]any
}
