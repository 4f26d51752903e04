package rollout_test

import (
	"slices"
	"testing"

	"github.com/proctor-rl/proctor/trainer/rollout"
	"github.com/proctor-rl/proctor/trainer/token"
)

var turns = []rollout.Turn{
	{Observation: "Question: Who?", Action: "Thought: look\nAction: search[ Aba]\n"},
	{Observation: "Aba: person.", Action: "Action: finish[ Aba]"},
}

// TestTranscript fixes what a language model sees, byte for byte.
func TestTranscript(t *testing.T) {
	const want = "Question: Who?\nThought: look\nAction: search[ Aba]\nObservation: Aba: person.\nAction: finish[ Aba]\nObservation: Done.\n"
	if got := rollout.Text(turns, "Done."); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestEncodeKeepsTurnsWhole is P1 and B02: encoding an episode turn by turn, as
// sampling does, gives the tokens of the whole text, and each longer history
// begins with the tokens of the shorter one.
func TestEncodeKeepsTurnsWhole(t *testing.T) {
	tok := token.Train([]string{rollout.Text(turns, "Done.")}, 512)
	ids, mask := rollout.Encode(tok, turns)
	if got := tok.Decode(ids); got != rollout.Text(turns, "") {
		t.Errorf("decoded %q", got)
	}
	if whole := tok.Encode(rollout.Text(turns, "")); !slices.Equal(ids, whole) {
		t.Errorf("by turns %v, at once %v", ids, whole)
	}
	short, _ := rollout.Encode(tok, turns[:1])
	if !slices.Equal(ids[:len(short)], short) {
		t.Error("a longer history changed the tokens of the shorter one")
	}
	var chosen []int32
	for i, m := range mask {
		if m {
			chosen = append(chosen, ids[i])
		}
	}
	if got := tok.Decode(chosen); got != turns[0].Action+turns[1].Action {
		t.Errorf("masked text is %q", got)
	}
}

// TestComplete: an action ends with the action line, not with the word in it.
func TestComplete(t *testing.T) {
	for text, want := range map[string]bool{
		"Thought: x\nAction: search[ a]\n": true,
		"Action: finish[ 3]\n":             true,
		"Thought: the Action: line\n":      false,
		"Action: finish[ 3]":               false,
		"":                                 false,
		"\n":                               false,
	} {
		if got := rollout.Complete(text); got != want {
			t.Errorf("Complete(%q) = %v", text, got)
		}
	}
}
