package deploy_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	proctorcli "github.com/proctor-rl/proctor/internal/cli/proctor"
	trainercli "github.com/proctor-rl/proctor/internal/cli/trainer"
)

// A dashboard that nobody has looked at beside real data is a guess: this test
// runs a server, a trainer and a Prometheus and asks every query of every panel
// until each has answered with at least one number.
func TestEveryPanelShowsData(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a Prometheus and trains a policy")
	}
	server := startServer(t)
	trainerAddr := freeAddr(t)
	prom := startPrometheus(t, "prometheus.yml", strings.TrimPrefix(server, "http://"), trainerAddr)
	startTraining(t, server, trainerAddr)

	pending := map[string]string{} // query to what is wrong with it
	for _, d := range loadDashboards(t) {
		for _, p := range d.Panels {
			for _, q := range p.Targets {
				pending[q.Expr] = fmt.Sprintf("panel %q", p.Title)
			}
		}
	}
	if len(pending) < 10 {
		t.Fatalf("found only %d queries", len(pending))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for len(pending) > 0 && ctx.Err() == nil {
		for expr := range pending {
			n, err := prom.query(ctx, substitute(expr))
			if err != nil && ctx.Err() == nil {
				t.Fatalf("%s: %v", pending[expr], err)
			}
			if n > 0 {
				delete(pending, expr)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	for expr, where := range pending {
		t.Errorf("%s stays empty: %s", where, expr)
	}
	// The check can tell: what does not exist is empty, what is no query is an error.
	if n, err := prom.query(t.Context(), "proctor_no_such_metric"); n != 0 || err != nil {
		t.Errorf("a metric that does not exist gave %d series, error %v", n, err)
	}
	if _, err := prom.query(t.Context(), "rate(proctor_steps_total)"); err == nil {
		t.Error("a query that Prometheus refuses was not reported")
	}
}

// startServer runs "proctor serve" inside the test and returns its address.
func startServer(t *testing.T) string {
	t.Helper()
	out, in := io.Pipe()
	run(t, "proctor serve", in, func(ctx context.Context, stderr io.Writer) int {
		return proctorcli.Main(ctx, []string{
			"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(),
		}, in, stderr)
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "listening "); ok {
			go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the pipe
			return url
		}
	}
	t.Fatalf("proctor serve ended before it listened: %v", lines.Err())
	return ""
}

// startTraining trains the small policy until the test is over.
func startTraining(t *testing.T, server, metrics string) {
	t.Helper()
	run(t, "trainer train", nil, func(ctx context.Context, stderr io.Writer) int {
		return trainercli.Main(ctx, []string{
			"train", "--recipe", filepath.Join("..", "recipes", "react-mini.yaml"), "--server", server,
			"--metrics", metrics, "--out", t.TempDir(), "--quiet",
			"--set", "rl.updates=100000", "--set", "eval.every=2", "--set", "eval.validation=8", "--set", "eval.test=8",
		}, io.Discard, stderr)
	})
}

// run starts a program's body and stops it when the test ends.
func run(t *testing.T, name string, closeAfter io.Closer, body func(ctx context.Context, stderr io.Writer) int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stderr := &lockedBuffer{}
	done := make(chan int, 1)
	go func() {
		code := body(ctx, stderr)
		if closeAfter != nil {
			_ = closeAfter.Close() // a pipe's write end: cannot fail
		}
		done <- code
	}()
	t.Cleanup(func() {
		cancel()
		code := <-done
		if t.Failed() {
			t.Logf("%s ended with %d and said:\n%s", name, code, stderr)
		}
	})
}

// lockedBuffer keeps what a program says.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
