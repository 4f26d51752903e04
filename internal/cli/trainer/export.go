package trainer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/proctor-rl/proctor/trainer/rollout"
)

func export(_ context.Context, args []string, stdout, stderr io.Writer) error {
	f := newFlags("export", "Copies a policy of a run (safetensors and tokenizer) into a folder, or writes the\nepisodes that a run kept as chat messages, one JSON document a line.",
		"trainer export --run runs/react-1 --out exported", stderr)
	run := f.String("run", "", "run folder")
	which := f.String("policy", "final", "folder in it: final, best, warm or ckpt/<name>")
	out := f.String("out", "", "folder to write the policy to, or file for --episodes")
	episodes := f.String("episodes", "", "export these kept episodes instead, such as samples/final.jsonl")
	asJSON := f.Bool("json", false, "print what was written as JSON")
	if err := parse(f, args, stdout); err != nil {
		return err
	}
	if *episodes != "" {
		if err := idle(f, "with --episodes", "policy"); err != nil {
			return err
		}
	}
	if *run == "" || *out == "" {
		return usage("name a run with --run FOLDER and a target with --out PATH")
	}
	var written []string
	var err error
	if *episodes != "" {
		err = exportEpisodes(filepath.Join(*run, *episodes), *out)
		written = []string{*out}
	} else {
		written, err = exportPolicy(filepath.Join(*run, *which), *out)
	}
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if *asJSON {
		return printJSON(stdout, map[string]any{"written": written})
	}
	for _, w := range written {
		fmt.Fprintln(stdout, w)
	}
	return nil
}

func exportPolicy(from, to string) (written []string, err error) {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return nil, err
	}
	for name, needed := range map[string]bool{"policy.safetensors": true, "tokenizer.json": false, "state.json": false} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, os.ErrNotExist) && !needed {
			continue
		}
		if err != nil {
			return nil, err
		}
		path := filepath.Join(to, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return nil, err
		}
		written = append(written, path)
	}
	return written, nil
}

// message is a chat message as fine-tuning programs read it.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func exportEpisodes(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read from
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	dec, enc := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out)
	for {
		var e rollout.Episode
		switch err := dec.Decode(&e); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		var m []message
		for _, t := range e.Turns {
			m = append(m, message{"user", t.Observation}, message{"assistant", t.Action})
		}
		if e.Final != "" {
			m = append(m, message{"user", e.Final})
		}
		if err := enc.Encode(map[string]any{"task_id": e.TaskID, "reward": e.Reward, "messages": m}); err != nil {
			return err
		}
	}
}
