package proctor

import (
	"bytes"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/proctor-rl/proctor/client"
)

// digests serves with flags and gives the digest of every env type.
func digests(t *testing.T, args ...string) map[string]string {
	t.Helper()
	url, stop := start(t, append(args, "--sandbox", sandboxNone)...)
	defer stop()
	c, err := client.New(url, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	types, err := c.EnvTypes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, typ := range types {
		out[typ.Name] = typ.Digest
	}
	return out
}

// A world's seed and size reach the environments, and only those they are for.
func TestWorldFlags(t *testing.T) {
	plain, seeded, sized := digests(t), digests(t, "--world-seed", "18446744073709551615"), digests(t, "--world-size", "3")
	for name, d := range plain {
		moved := strings.HasPrefix(name, "react") && name != "react-almanac"
		if (seeded[name] != d) != moved {
			t.Errorf("%s under another --world-seed: %s, without: %s", name, seeded[name], d)
		}
		if (sized[name] != d) != (name == "react") {
			t.Errorf("%s under another --world-size: %s, without: %s", name, sized[name], d)
		}
	}
	for _, args := range [][]string{
		{"serve", "--world-size", "1"},
		{"serve", "--world-size", "-3"},
		{"serve", "--world-size", "81"},
		{"serve", "--world-seed", "-1"},
		{"serve", "--world-seed", "x"},
		{"demos", "--env", "react", "--world-size", "1"},
		{"replay", "--data", "d", "--world-size", "1", "e"},
	} {
		var out, errs bytes.Buffer
		if code := Main(t.Context(), args, &out, &errs); code != exitUsage || !strings.Contains(errs.String(), "world-s") {
			t.Errorf("%v: %d %s", args, code, &errs)
		}
	}
}

// Demonstrations show the world that a server of the same seed has.
func TestDemosOfAnotherWorld(t *testing.T) {
	play := func(args ...string) string {
		var out, errs bytes.Buffer
		if code := Main(t.Context(), append([]string{"demos", "--env", "react-compact", "--n", "1"}, args...), &out, &errs); code != exitOK {
			t.Fatalf("%d %s", code, &errs)
		}
		return out.String()
	}
	if a, b := play(), play("--world-seed", "7"); a == b || play("--world-seed", "7") != b {
		t.Error("the world's seed changes nothing, or not always the same")
	}
}

// A client that sends its request's head byte by byte is cut off.
func TestSlowHead(t *testing.T) {
	h := httpServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	if h.ReadHeaderTimeout <= 0 || h.ReadHeaderTimeout > 30*time.Second || h.ReadTimeout <= 0 || h.IdleTimeout <= 0 || h.MaxHeaderBytes <= 0 {
		t.Fatalf("not bounded: %+v", h)
	}
	srv := httptest.NewUnstartedServer(nil)
	h.ReadHeaderTimeout = 150 * time.Millisecond
	srv.Config = h
	srv.Start()
	defer srv.Close()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() // the test is over
	begun := time.Now()
	for i := 0; err == nil; i++ {
		if time.Since(begun) > 20*time.Second {
			t.Fatal("the connection is still open")
		}
		_, err = c.Write([]byte("GET / HTTP/1.1\r\nX: a"[i%10 : i%10+1]))
		<-time.After(20 * time.Millisecond)
	}
}
