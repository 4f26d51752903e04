package proctor

import (
	"bytes"
	"context"
	"net/http"
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

// To do without the code environments is a choice of its own, and is told.
func TestSandboxOff(t *testing.T) {
	url, stop := start(t, "--sandbox", sandboxOff)
	defer stop()
	c := &auditClient{url: url}
	var ready struct{ Warnings []string }
	if _, err := c.call(t.Context(), http.MethodGet, "/readyz", nil, &ready); err != nil || len(ready.Warnings) != 1 || !strings.Contains(ready.Warnings[0], "off") {
		t.Errorf("readyz: %v %q", err, ready.Warnings)
	}
	if status, err := c.call(t.Context(), http.MethodPost, "/envs", map[string]any{"type": "codefix"}, nil); status != http.StatusServiceUnavailable {
		t.Errorf("codefix: %d %v", status, err)
	}
	if status, err := c.call(t.Context(), http.MethodPost, "/envs", map[string]any{"type": "react"}, nil); status != http.StatusCreated {
		t.Errorf("react: %d %v", status, err)
	}
}
