package trainer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/proctor-rl/proctor/trainer/algo/sft"
	"github.com/proctor-rl/proctor/trainer/rollout"
	"github.com/proctor-rl/proctor/trainer/token"
)

// Demo is one demonstration: a line of the file that "proctor demos" writes.
type Demo struct {
	EnvType    string         `json:"env_type"`
	EnvVersion string         `json:"env_version"`
	TaskID     string         `json:"task_id"`
	Split      string         `json:"split"`
	Seed       int64          `json:"seed"`
	Public     map[string]any `json:"public"`
	Reward     *float64       `json:"reward"`
	Status     string         `json:"status"`
	Turns      []rollout.Turn `json:"turns"`
	Final      string         `json:"final_observation"`
}

// maxDemo bounds one line of a demonstration file.
const maxDemo = 1 << 20

// ReadDemos reads a demonstration file of one environment type. It leaves out
// episodes without a reward and, with success, those that earned less than 1;
// demonstrations of any split but train are refused, because the others are for
// judging. limit 0 is no limit.
func ReadDemos(path, envType, train string, success bool, limit int) ([]Demo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read demonstrations: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read from
	demos, err := readDemos(f, envType, train, success, limit)
	if err != nil {
		return nil, fmt.Errorf("read demonstrations %s: %w", path, err)
	}
	return demos, nil
}

func readDemos(r io.Reader, envType, train string, success bool, limit int) ([]Demo, error) {
	var out []Demo
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 64<<10), maxDemo)
	for line := 1; s.Scan(); line++ {
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		var d Demo
		if err := json.Unmarshal(s.Bytes(), &d); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		switch {
		case d.EnvType != envType:
			return nil, fmt.Errorf("line %d: demonstration of %q, want %q", line, d.EnvType, envType)
		case d.Split != train:
			return nil, fmt.Errorf("line %d: demonstration of split %q, want %q", line, d.Split, train)
		case len(d.Turns) == 0:
			return nil, fmt.Errorf("line %d: no turns", line)
		}
		if d.Reward == nil || success && *d.Reward < 1 {
			continue
		}
		out = append(out, d)
		if limit > 0 && len(out) >= limit {
			return out, nil
		}
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, errors.New("no usable demonstration")
	}
	return out, nil
}

// examples encodes demonstrations; longer than context they are left out and
// counted.
func examples(t *token.Tokenizer, demos []Demo, context int) (out []sft.Example, tooLong int) {
	for _, d := range demos {
		tokens, mask := rollout.Encode(t, d.Turns)
		if len(tokens) > context {
			tooLong++
			continue
		}
		out = append(out, sft.Example{Tokens: tokens, Mask: mask})
	}
	return out, tooLong
}

// tokenizer trains a tokenizer on the transcripts of the first demonstrations.
func tokenizer(demos []Demo, n, vocab int) *token.Tokenizer {
	var texts []string
	for _, d := range demos[:min(n, len(demos))] {
		texts = append(texts, rollout.Text(d.Turns, d.Final))
	}
	return token.Train(texts, vocab)
}
