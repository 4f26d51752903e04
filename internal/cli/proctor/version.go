package proctor

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"

	"github.com/proctor-rl/proctor/internal/buildinfo"
)

const versionHelp = `usage: proctor version [--json]

Says which build this is and which version of the contract it speaks.

example: proctor version

`

// version is the subcommand of that name.
func version(_ context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("version", flag.ContinueOnError)
	fs.SetOutput(stderr)
	asJSON := fs.Bool("json", false, "print JSON")
	if code, ok := parse(fs, args, versionHelp, stdout); !ok {
		return code
	}
	if fs.NArg() > 0 {
		return misuse(fs, "unexpected argument %q", fs.Arg(0))
	}
	b := buildinfo.Read()
	if !*asJSON {
		fmt.Fprintf(stdout, "proctor %s, API %s\n", b, apiVersion)
		return exitOK
	}
	err := json.NewEncoder(stdout).Encode(struct {
		buildinfo.Info
		APIVersion string `json:"api_version"`
	}{b, apiVersion})
	if err != nil {
		fmt.Fprintln(stderr, "proctor version:", err)
		return exitFail
	}
	return exitOK
}
