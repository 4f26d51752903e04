// Package cli is what the two commands share: how a process calls a command's
// body and ends.
//
// The bodies are internal/cli/proctor and internal/cli/trainer. Their tests play
// them as functions; the scripts in testdata, which this package's test runs,
// play both as processes, the way a person meets them: by arguments, exit code,
// stdout, stderr and signals. It imports neither body, so that the trainer
// links nothing of the server.
package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Body is a command: it returns the exit code.
type Body func(ctx context.Context, args []string, stdout, stderr io.Writer) int

// Run is a process's main: it plays body with the process's arguments and exits
// with its code. The first interrupt or termination ends ctx, which asks body to
// come to an end; the second ends the process at once.
func Run(body Body) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(body(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
