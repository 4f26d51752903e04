// Command trainer trains and judges policies against a Proctor server. Its body
// is internal/cli/trainer; this file only connects it to the process.
package main

import (
	"github.com/proctor-rl/proctor/internal/cli"
	"github.com/proctor-rl/proctor/internal/cli/trainer"
)

func main() { cli.Run(trainer.Main) }
