// Package scaffold reads what an agent wrote, as ReAct text or as OpenAI tool
// calls, into calls of named one-argument tools.
//
// The text grammar is anchored at lines: the first line that starts with
// "Action:" is the action, "tool[argument]" with balanced brackets must fill
// it, and nothing after that line counts. A line "Observation:" written by the
// agent is text like any other. Whatever does not fit is refused with a reason
// and never guessed at. The package runs no tool and knows no environment;
// package react calls it.
package scaffold
