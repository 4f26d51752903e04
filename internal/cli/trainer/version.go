package trainer

import (
	"context"
	"fmt"
	"io"

	"github.com/proctor-rl/proctor/internal/buildinfo"
)

func version(_ context.Context, args []string, stdout, stderr io.Writer) error {
	f := newFlags("version", "Says which build this is.", "trainer version", stderr)
	asJSON := f.Bool("json", false, "print JSON")
	if err := parse(f, args, stdout); err != nil {
		return err
	}
	b := buildinfo.Read()
	if *asJSON {
		return printJSON(stdout, b)
	}
	_, err := fmt.Fprintf(stdout, "trainer %s\n", b)
	return err
}
