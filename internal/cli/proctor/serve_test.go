package proctor

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/client"
)

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// start runs "proctor serve" until the returned stop, which gives its exit code.
func start(tb testing.TB, args ...string) (url string, stop func() int) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, errs := &syncBuffer{}, &syncBuffer{}
	code := make(chan int, 1)
	go func() { code <- Main(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), out, errs) }()
	deadline := time.Now().Add(60 * time.Second)
	for !strings.Contains(out.String(), "\n") {
		select {
		case c := <-code:
			cancel()
			tb.Fatalf("serve ended with %d: %s", c, errs)
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			cancel()
			tb.Fatal("serve did not come up")
		}
	}
	url, ok := strings.CutPrefix(strings.TrimSpace(out.String()), "listening ")
	if !ok {
		tb.Fatalf("stdout says %q", out)
	}
	return url, func() int { cancel(); return <-code }
}

// A student's way through: serve, play, stop, export, replay.
func TestServeExportReplay(t *testing.T) {
	dir := t.TempDir()
	url, stop := start(t, "--data", dir)
	c, err := client.New(url, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	env, err := c.Create(t.Context(), api.CreateEnvRequest{Type: "react-compact"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Reset(t.Context(), env.EnvID, api.ResetRequest{Split: api.SplitTest})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []string{"Thought: x\nAction: calculator[6*7]", "Thought: x\nAction: finish[42]"} {
		if _, err := c.Step(t.Context(), env.EnvID, api.StepRequest{Action: api.TextAction(a)}); err != nil {
			t.Fatal(err)
		}
	}
	resp, err := http.Get(url + "/") //nolint:noctx // bounded by the test
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(resp.Body)
	if err != nil || resp.Body.Close() != nil {
		t.Fatal(err)
	}
	csp := resp.Header.Get("Content-Security-Policy")
	if resp.StatusCode != http.StatusOK || !strings.Contains(csp, "default-src 'self'") || !strings.Contains(string(page), "<html") {
		t.Errorf("the page: %d %q", resp.StatusCode, csp)
	}
	if code := stop(); code != exitOK {
		t.Fatalf("serve exited with %d", code)
	}
	run := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := Main(t.Context(), args, &out, &errs)
		return code, out.String() + errs.String()
	}
	if code, out := run("export", "--data", dir, "--format", "chat"); code != exitOK || !strings.Contains(out, r.EpisodeID) || !strings.Contains(out, "calculator[6*7]") {
		t.Errorf("export: %d %s", code, out)
	}
	if code, out := run("replay", "--data", dir, r.EpisodeID); code != exitOK || out != "identical: 2 steps\n" {
		t.Errorf("replay: %d %s", code, out)
	}
	if code, _ := run("replay", "--data", dir, "nope"); code != exitFail {
		t.Errorf("replay of nothing: %d", code)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range commands() {
		var out, errs bytes.Buffer
		if code := Main(t.Context(), []string{c.name, "--help"}, &out, &errs); code != exitOK || !strings.Contains(out.String()+errs.String(), "example: proctor "+c.name) {
			t.Errorf("%s --help: %d %s%s", c.name, code, &out, &errs)
		}
		if code := Main(t.Context(), []string{c.name, "--no-such-flag"}, &out, &errs); code != exitUsage {
			t.Errorf("%s --no-such-flag: %d", c.name, code)
		}
	}
	var out, errs bytes.Buffer
	for _, args := range [][]string{{}, {"fly"}, {"serve", "extra"}, {"serve", "--listen", "8080"}, {"token"}, {"export"}, {"replay"}} {
		if code := Main(t.Context(), args, &out, &errs); code != exitUsage {
			t.Errorf("%v: %d", args, code)
		}
	}
}

func TestTokensGuardTheDoor(t *testing.T) {
	var out, errs bytes.Buffer
	if code := Main(t.Context(), []string{"serve", "--listen", "0.0.0.0:0"}, &out, &errs); code != exitFail || !strings.Contains(errs.String(), "token") {
		t.Errorf("served off loopback without a token: %d %s", code, &errs)
	}
	file := filepath.Join(t.TempDir(), "tokens.jsonl")
	out.Reset()
	if code := Main(t.Context(), []string{"token", "--file", file, "--owner", "ann"}, &out, &errs); code != exitOK {
		t.Fatal(errs.String())
	}
	secret := strings.TrimSpace(out.String())
	if b, err := os.ReadFile(file); err != nil || bytes.Contains(b, []byte(secret)) {
		t.Errorf("the file gives the token away: %v", err)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode: %v %v", st.Mode(), err)
	}
	url, stop := start(t, "--tokens", file)
	defer stop()
	for tok, want := range map[string]api.ProblemCode{secret: "", "wrong": api.ProblemCodeUnauthenticated} {
		c, err := client.New(url, client.Options{Token: tok})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Envs(t.Context()); client.CodeOf(err) != want || want == "" && err != nil {
			t.Errorf("with token %.5s: %v", tok, err)
		}
		c.Close()
	}
}

// A bound that cannot be meant is refused, and so is a folder that is not there.
func TestServeRefusesBadFlags(t *testing.T) {
	for flags, want := range map[string]int{
		"--max-envs=0": 2, "--max-envs-per-owner=-1": 2, "--ttl=-1s": 2, "--step-timeout=0": 2, "--max-body=0": 2,
		"--drain=-1s": 2, "--tasks=/no/such/folder": 1,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		out, errs := &syncBuffer{}, &syncBuffer{}
		if got := Main(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--sandbox", sandboxNone, flags}, out, errs); got != want {
			t.Errorf("%s: exit %d, want %d: %s", flags, got, want, errs)
		}
		cancel()
	}
}
