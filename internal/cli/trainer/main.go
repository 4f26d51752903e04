package trainer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// command is one subcommand.
type command struct {
	name    string
	summary string
	run     func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}

func commands() []command {
	return []command{
		{"train", "warm up and train a policy by a recipe", train},
		{"sft", "the supervised warm start alone", warmUp},
		{"eval", "judge the policy of a run on held-out tasks", evaluate},
		{"sample", "play a few episodes and show them", sample},
		{"export", "write a policy or a run's episodes for other programs", export},
		{"bench", "measure sampling and learning speed of a recipe's policy", bench},
		{"config", "print a recipe with every default filled in", config},
		{"demo", "server, baseline and transformer in one go", demo},
		{"lab", "the exercises: react, group, gaming", lab},
		{"version", "say which build this is", version},
	}
}

// usageError is a mistake of the caller: exit code 2.
type usageError struct{ error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errHelp means that help was asked for and has been printed.
var errHelp = errors.New("help")

// Main runs the trainer command and returns its exit code.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 || args[0] == "-h" || args[0] == "--help" || args[0] == "help" {
		w := stderr
		if len(args) > 0 {
			w = stdout
		}
		fmt.Fprint(w, "usage: trainer <command> [flags]\n\n")
		for _, c := range commands() {
			fmt.Fprintf(w, "  %-8s %s\n", c.name, c.summary)
		}
		fmt.Fprint(w, "\n\"trainer <command> --help\" shows flags and an example.\n")
		if len(args) > 0 {
			return 0
		}
		return 2
	}
	if args[0] == "--version" || args[0] == "-version" {
		args[0] = "version"
	}
	for _, c := range commands() {
		if c.name != args[0] {
			continue
		}
		err := c.run(ctx, args[1:], stdout, stderr)
		var u usageError
		switch {
		case err == nil, errors.Is(err, errHelp):
			return 0
		case errors.As(err, &u):
			fmt.Fprintf(stderr, "trainer %s: %v\n", c.name, err)
			return 2
		}
		fmt.Fprintf(stderr, "trainer %s: %v\n", c.name, err)
		return 1
	}
	fmt.Fprintf(stderr, "trainer: no command %q; \"trainer --help\" lists them\n", args[0])
	return 2
}

// newFlags is a flag set whose help shows an example.
func newFlags(name, about, example string, stderr io.Writer) *flag.FlagSet {
	f := flag.NewFlagSet("trainer "+name, flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprintf(f.Output(), "usage: trainer %s [flags]\n\n%s\n\nexample:\n  %s\n\nflags:\n", name, about, example)
		f.PrintDefaults()
	}
	return f
}

// parse reads flags; help and mistakes come back as errors with exit codes of
// their own. Help goes to stdout.
func parse(f *flag.FlagSet, args []string, stdout io.Writer) error {
	for _, a := range args {
		if a == "-h" || a == "--help" || a == "-help" {
			f.SetOutput(stdout)
			f.Usage()
			return errHelp
		}
	}
	if err := f.Parse(args); err != nil {
		return usageError{err}
	}
	if f.NArg() > 0 {
		return usage("unexpected argument %q", f.Arg(0))
	}
	return nil
}

// idle refuses the named flags where they were given and do nothing beside others:
// whoever gave them expects something of them.
func idle(f *flag.FlagSet, beside string, names ...string) (err error) {
	f.Visit(func(g *flag.Flag) {
		if err == nil && slices.Contains(names, g.Name) {
			err = usage("--%s does nothing %s", g.Name, beside)
		}
	})
	return err
}

// list is a flag that may be given several times.
type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }
