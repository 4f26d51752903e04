// Command proctor serves environments to agents that learn. See
// "proctor --help" for its subcommands; internal/cli/proctor has their bodies.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/proctor-rl/proctor/internal/cli/proctor"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := proctor.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
