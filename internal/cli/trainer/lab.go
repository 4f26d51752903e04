package trainer

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
)

// lab runs one of the exercises.
func lab(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	const names = "react, group, gaming"
	if len(args) == 0 {
		return usage("name an exercise: %s", names)
	}
	switch args[0] {
	case "react":
		return labReact(ctx, args[1:], stdout, stderr)
	case "group":
		return labGroup(ctx, args[1:], stdout, stderr)
	case "gaming":
		return labGaming(ctx, args[1:], stdout, stderr)
	case "-h", "--help":
		fmt.Fprintf(stdout, "usage: trainer lab <exercise> [flags]\n\nexercises: %s\n\nexample:\n  trainer lab group --proctor bin/proctor --k 4\n", names)
		return errHelp
	}
	return usage("no exercise %q: have %s", args[0], names)
}

// labFlags are shared by the exercises.
type labFlags struct {
	connection
	env   string
	index int
	seed  uint64
}

func (l *labFlags) register(f *flag.FlagSet, task int, seed uint64) {
	l.serveArgs = []string{"--log-level", "warn"} // the exercise is what is to be read
	l.connection.register(f)
	f.StringVar(&l.env, "env", "react-mini", "environment type")
	f.IntVar(&l.index, "task", task, "index of the task in the train split")
	f.Uint64Var(&l.seed, "seed", seed, "seed of the policy and its draws")
}

func indent(s string) string {
	return "  | " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n  | ") + "\n"
}
