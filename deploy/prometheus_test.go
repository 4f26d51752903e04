package deploy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// prometheus is a running server of Debian's package.
type prometheus struct {
	url  string
	http *http.Client
}

// startPrometheus runs a committed scrape configuration with the two addresses
// and more exchanged, and a short interval. Missing Prometheus is a failure:
// tools/setup.sh installs it.
func startPrometheus(t *testing.T, name, proctorAddr, trainerAddr string, more ...string) *prometheus {
	t.Helper()
	binary, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatal("prometheus is not installed: run tools/setup.sh prometheus")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	config := strings.NewReplacer(more...).Replace(string(text))
	for old, now := range map[string]string{
		"127.0.0.1:8080":      proctorAddr,
		"127.0.0.1:9091":      trainerAddr,
		"scrape_interval: 5s": "scrape_interval: 500ms\n  scrape_timeout: 500ms",
	} {
		if strings.Count(config, old) != 1 {
			t.Fatalf("%s names %q %d times, want once", name, old, strings.Count(config, old))
		}
		config = strings.Replace(config, old, now, 1)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	addr := freeAddr(t)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, binary, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+addr, "--log.level=warn")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // killed on purpose
		if t.Failed() {
			if text, err := os.ReadFile(log.Name()); err == nil {
				t.Logf("prometheus said:\n%s", text)
			}
		}
		_ = log.Close() // read above, nothing is lost
	})
	p := &prometheus{url: "http://" + addr, http: &http.Client{Timeout: 10 * time.Second}}
	eventually(t, 60*time.Second, "prometheus is ready", func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/-/ready", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := p.http.Do(req)
		if err != nil {
			return false
		}
		_ = resp.Body.Close() // only the status is wanted
		return resp.StatusCode == http.StatusOK
	})
	return p
}

// query evaluates expr now and returns how many of its series have a number.
func (p *prometheus) query(ctx context.Context, expr string) (series int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/api/v1/query?query="+url.QueryEscape(expr), nil)
	if err != nil {
		return 0, err
	}
	resp, err := p.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	var reply struct {
		Status, Error string
		Data          struct {
			ResultType string
			Result     json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &reply); err != nil {
		return 0, fmt.Errorf("query %s: %s: %w", expr, body, err)
	}
	if reply.Status != "success" {
		return 0, fmt.Errorf("query %s: %s", expr, reply.Error)
	}
	if reply.Data.ResultType != "vector" {
		return 0, fmt.Errorf("query %s gives a %s, not a vector", expr, reply.Data.ResultType)
	}
	var vector []struct{ Value [2]any }
	if err := json.Unmarshal(reply.Data.Result, &vector); err != nil {
		return 0, fmt.Errorf("query %s: %w", expr, err)
	}
	for _, v := range vector {
		text, ok := v.Value[1].(string)
		if !ok {
			return 0, fmt.Errorf("query %s: value %v is not a string", expr, v.Value[1])
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, fmt.Errorf("query %s: %w", expr, err)
		}
		if !math.IsNaN(f) {
			series++
		}
	}
	return series, nil
}

// substitute puts values where Grafana would.
func substitute(expr string) string {
	return strings.NewReplacer("$__rate_interval", "20s", "$__range", "60s", "$env", ".*", "$run", ".*").Replace(expr)
}

func freeAddr(t *testing.T) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// eventually asks ok every 100 ms until it holds.
func eventually(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(within)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s: not within %s", what, within)
		}
	}
}

// What compose.yaml starts beside a server with a token: the same scrapes, with
// the token out of the file where compose puts the secret.
func TestPrometheusWithAToken(t *testing.T) {
	plain, err := os.ReadFile("prometheus.yml")
	if err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile("prometheus-token.yml")
	if err != nil {
		t.Fatal(err)
	}
	body := func(b []byte) string { return string(b[strings.Index(string(b), "global:"):]) }
	commented := regexp.MustCompile(`    # A server with tokens.*\n    # (authorization.*\n)`)
	if got, want := body(token), commented.ReplaceAllString(body(plain), "    $1"); got != want {
		t.Errorf("prometheus-token.yml is not prometheus.yml with a token:\n%s", got)
	}
	compose, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const secret = "/run/secrets/proctor-token"
	for _, want := range []string{"./prometheus-token.yml:/etc/prometheus/prometheus.yml:ro", "secrets: [proctor-token]", "  proctor-token:\n    environment: PROCTOR_TOKEN\n"} {
		if !strings.Contains(string(compose), want) {
			t.Errorf("compose.yaml lacks %q", want)
		}
	}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("let-me-in"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer let-me-in" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprintln(w, "proctor_live 1")
	}))
	defer server.Close()
	p := startPrometheus(t, "prometheus-token.yml", server.Listener.Addr().String(), freeAddr(t), secret, file)
	eventually(t, 30*time.Second, "the server is scraped", func() bool {
		n, err := p.query(t.Context(), "proctor_live")
		return err == nil && n == 1
	})
}
