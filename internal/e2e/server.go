package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/proctor-rl/proctor/internal/cli/proctor"
)

// Serve runs "proctor serve" with args on a free port until the test ends and
// returns its base URL.
func Serve(t *testing.T, args ...string) string {
	t.Helper()
	return serveLogging(t, nil, args...)
}

// serveLogging is Serve with a copy of the log.
func serveLogging(t *testing.T, copied io.Writer, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	out, in := io.Pipe()
	var log bytes.Buffer
	var logs io.Writer = &log
	if copied != nil {
		logs = io.MultiWriter(&log, copied)
	}
	done := make(chan int, 1)
	go func() {
		code := proctor.Main(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), in, logs)
		in.CloseWithError(fmt.Errorf("serve ended with code %d", code))
		done <- code
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Error("the server did not stop")
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening ")
	if err != nil || !ok {
		cancel()
		<-done
		t.Fatalf("the server said %q, %v; its log:\n%s", line, err, log.String())
	}
	return url
}

// Reply is a reply's status and JSON body.
type Reply struct {
	Status int
	Body   map[string]any
	Raw    string
}

func (r Reply) text() string {
	obs, _ := r.Body["observation"].(map[string]any)
	s, _ := obs["text"].(string)
	return s
}

func (r Reply) done() bool { b, _ := r.Body["done"].(bool); return b }

func (r Reply) info() map[string]any {
	m, _ := r.Body["info"].(map[string]any)
	return m
}

// reward is nil for null: our side broke.
func (r Reply) reward() (float64, bool) {
	v, ok := r.Body["reward"].(float64)
	return v, ok
}

// Post sends a JSON body.
func Post(ctx context.Context, url string, body any) (Reply, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return Reply{}, fmt.Errorf("encode body: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(data))
	if err != nil {
		return Reply{}, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return Reply{}, fmt.Errorf("post: %w", err)
	}
	defer resp.Body.Close() // read to its end below
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return Reply{}, fmt.Errorf("read reply: %w", err)
	}
	r := Reply{Status: resp.StatusCode, Raw: string(raw)}
	if err := json.Unmarshal(raw, &r.Body); err != nil {
		return r, fmt.Errorf("reply %d is no JSON object: %w", resp.StatusCode, err)
	}
	return r, nil
}
