package trainer

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// program writes a shell script that stands for a server.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "server")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// Whatever the program does, the start comes to an end with a word about it, and
// nothing is left that waits (which this package's TestMain sees to).
func TestServerThatDoesNotStart(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"ends at once":          {"echo no >&2; exit 3\n", "ended before it was ready"},
		"says something else":   {"echo hello\n", "ended before it was ready"},
		"names no address":      {"echo 'listening '\nexec sleep 60\n", "ended before it was ready"},
		"leaves a child behind": {"sleep 25 >/dev/null &\nexit 0\n", "ended before it was ready"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			begun := time.Now()
			s, err := startServer(t.Context(), program(t, c.script), &log)
			if err == nil {
				t.Fatalf("started %v", s)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want %q in it", err, c.want)
			}
			if spent := time.Since(begun); spent > 20*time.Second {
				t.Errorf("it took %s", spent)
			}
		})
	}
	if _, err := startServer(t.Context(), filepath.Join(t.TempDir(), "none"), &bytes.Buffer{}); err == nil {
		t.Error("started what is not there")
	}
}

func TestServerIsStoppedWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var log bytes.Buffer
	if _, err := startServer(ctx, program(t, "exec sleep 60\n"), &log); err == nil {
		t.Error("a server that says nothing was called ready")
	}
}

func TestServerThatStarts(t *testing.T) {
	var log bytes.Buffer
	s, err := startServer(t.Context(), program(t, "echo listening http://127.0.0.1:1\nexec sleep 60\n"), &log)
	if err != nil {
		t.Fatal(err)
	}
	if s.url != "http://127.0.0.1:1" {
		t.Errorf("its address is %q", s.url)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}
