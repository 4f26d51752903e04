package rollout

import (
	"strings"

	"github.com/proctor-rl/proctor/trainer/token"
)

// The text that a language-model policy sees is the first observation, then for
// each step the action as it was sampled (a thought line and an action line)
// and the answer behind a prefix. Every part ends in a newline, and since the
// tokenizer never merges across one, parts can be encoded one by one.
const observationPrefix = "Observation: "

// PromptText is how the first observation appears.
func PromptText(observation string) string { return observation + "\n" }

// ObservationText is how the answer to an action appears after it.
func ObservationText(action, observation string) string {
	s := observationPrefix + observation + "\n"
	if !strings.HasSuffix(action, "\n") {
		s = "\n" + s // the action ran into the limit of its length
	}
	return s
}

// Complete reports whether sampled text holds a whole action: it ends with a
// newline and its last line is the action line.
func Complete(text string) bool {
	body, ok := strings.CutSuffix(text, "\n")
	return ok && strings.HasPrefix(body[strings.LastIndexByte(body, '\n')+1:], "Action:")
}

// Encode turns a finished episode into tokens as the policy would have seen and
// sampled them: the mask is true for the tokens of actions.
func Encode(t *token.Tokenizer, turns []Turn) (tokens []int32, mask []bool) {
	add := func(text string, chosen bool) {
		n := len(tokens)
		tokens = t.AppendEncode(tokens, text)
		for range len(tokens) - n {
			mask = append(mask, chosen)
		}
	}
	for i, turn := range turns {
		if i == 0 {
			add(PromptText(turn.Observation), false)
		} else {
			add(ObservationText(turns[i-1].Action, turn.Observation), false)
		}
		add(turn.Action, true)
	}
	return tokens, mask
}

// Text is the whole transcript of an episode with its last observation.
func Text(turns []Turn, final string) string {
	var b strings.Builder
	for i, turn := range turns {
		if i == 0 {
			b.WriteString(PromptText(turn.Observation))
		} else {
			b.WriteString(ObservationText(turns[i-1].Action, turn.Observation))
		}
		b.WriteString(turn.Action)
	}
	if len(turns) > 0 && final != "" {
		b.WriteString(ObservationText(turns[len(turns)-1].Action, final))
	}
	return b.String()
}
