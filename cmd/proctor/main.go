// Command proctor serves environments to agents that learn. See
// "proctor --help" for its subcommands; internal/cli/proctor has their bodies.
package main

import (
	"github.com/proctor-rl/proctor/internal/cli"
	"github.com/proctor-rl/proctor/internal/cli/proctor"
)

func main() { cli.Run(proctor.Main) }
