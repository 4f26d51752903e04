// Command trainer trains and judges policies against a Proctor server. Its body
// is internal/cli/trainer; this file only connects it to the process.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/proctor-rl/proctor/internal/cli/trainer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := trainer.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
