package proctor

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
)

// The exit codes of every subcommand.
const (
	exitOK    = 0
	exitFail  = 1
	exitUsage = 2
)

// command is one subcommand.
type command struct {
	name string
	help string
	run  func(ctx context.Context, args []string, stdout, stderr io.Writer) int
}

// commands is the list of subcommands: one file and one line each.
func commands() []command {
	return []command{
		{"serve", "serve environments over REST and WebSocket", serve},
		{"check", "check tasks that a user brings", check},
		{"audit", "play policies that deserve nothing, and see", audit},
		{"demos", "write demonstration episodes", demos},
		{"replay", "play a stored episode again and compare", replay},
		{"export", "write stored episodes as training data", export},
		{"token", "make a bearer token", token},
		{"version", "say which build this is", version},
	}
}

// Main runs the subcommand that args name and returns the exit code: 0 on
// success, 1 on failure, 2 on bad usage. Results go to stdout, words to stderr.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		usage(stdout)
		return exitOK
	case "-version", "--version":
		args[0] = "version"
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, args[1:], stdout, stderr)
		}
	}
	fmt.Fprintf(stderr, "proctor: unknown command %q\n\n", args[0])
	usage(stderr)
	return exitUsage
}

func usage(w io.Writer) {
	fmt.Fprint(w, "proctor serves environments for agentic reinforcement learning.\n\nusage: proctor COMMAND [flags]\n\ncommands:\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-8s %s\n", c.name, c.help)
	}
	fmt.Fprint(w, "\n\"proctor COMMAND --help\" says more.\n\nexample: proctor serve --listen 127.0.0.1:8080\n")
}

// parse reads flags. ok is false where the command is to end with code: help
// was asked for, and has been printed to stdout, or a flag is wrong, which
// stderr has been told.
func parse(fs *flag.FlagSet, args []string, help string, stdout io.Writer) (code int, ok bool) {
	fs.Usage = func() { fmt.Fprint(fs.Output(), help); fs.PrintDefaults() }
	for _, a := range args {
		if a == "-h" || a == "-help" || a == "--help" {
			fs.SetOutput(stdout)
			fs.Usage()
			return exitOK, false
		}
		if a == "--" {
			break
		}
	}
	if err := fs.Parse(args); err != nil {
		return exitUsage, false
	}
	return exitOK, true
}

// idle is the first of the named flags that was given, or empty. A flag that does
// nothing beside others is refused: whoever gave it expects something of it.
func idle(fs *flag.FlagSet, names ...string) (first string) {
	fs.Visit(func(f *flag.Flag) {
		if first == "" && slices.Contains(names, f.Name) {
			first = f.Name
		}
	})
	return first
}

// misuse says on stderr what is wrong with the arguments of fs's command.
func misuse(fs *flag.FlagSet, format string, args ...any) int {
	fmt.Fprintf(fs.Output(), "proctor %s: %s; see \"proctor %s --help\"\n", fs.Name(), fmt.Sprintf(format, args...), fs.Name())
	return exitUsage
}
