package proctor

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

// An interpreter that was asked for and cannot be used ends the start: a server
// without the code environments is not what was asked for.
func TestUnusablePythonEndsTheStart(t *testing.T) {
	for _, python := range []string{"/nope", "no-such-python", "/bin/true", "/dev/null"} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		var out, errs bytes.Buffer
		code := Main(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--python", python}, &out, &errs)
		cancel()
		if code != exitFail || out.Len() > 0 || !strings.Contains(errs.String(), "--python "+python) || !strings.Contains(errs.String(), "pytest") {
			t.Errorf("--python %s: exit %d, %s%s", python, code, &out, &errs)
		}
	}
}
