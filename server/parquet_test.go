package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server"
	"github.com/proctor-rl/proctor/server/episode"
	"github.com/proctor-rl/proctor/server/internal/toy"
	"github.com/proctor-rl/proctor/server/store"
)

// exportedEpisodes plays one episode of each end and exports them.
func exportedEpisodes(t *testing.T) (file []byte, whole []map[string]any) {
	t.Helper()
	w := serve(t, episode.Config{}, server.Config{})
	for i, last := range []string{"finish[42]", "finish[7]", "panic", ""} {
		id, _ := w.env(map[string]any{"task_id": "train-3", "seed": 1<<40 + i, "policy_version": "p é"})
		w.step(id, "reward:")
		w.step(id, "garbage")
		w.do("POST", "/envs/"+id+"/step", map[string]any{"action": map[string]any{"tool_calls": []any{
			map[string]any{"id": "c1", "type": "function", "function": map[string]any{"name": "echo-id:", "arguments": `{"q":"ä"}`}},
		}}})
		if last == "" {
			w.do("POST", "/envs/"+id+"/score", nil)
		} else {
			w.step(id, last)
		}
	}
	w.env(nil) // one that still runs
	e := w.do("GET", "/episodes/export?format=parquet", nil)
	if ct := e.header.Get("Content-Type"); e.status != 200 || ct != "application/vnd.apache.parquet" {
		t.Fatalf("%d %s", e.status, ct)
	}
	for _, line := range bytes.Split(bytes.TrimSpace(w.do("GET", "/episodes/export", nil).raw), []byte("\n")) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		whole = append(whole, m)
	}
	return e.raw, whole
}

// What the file says is what the JSON export says. It is read back by its own
// column names, not by the type that wrote it.
func TestParquetExport(t *testing.T) {
	raw, whole := exportedEpisodes(t)
	f, err := parquet.OpenFile(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	r := parquet.NewGenericReader[map[string]any](f, f.Schema())
	defer r.Close() // read from memory
	rows := make([]map[string]any, 10)
	for i := range rows {
		rows[i] = map[string]any{}
	}
	n, err := r.Read(rows)
	if n != 4 || len(whole) != 4 || err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("%d rows, %d lines: %v", n, len(whole), err)
	}
	for i, want := range whole {
		got := rows[i]
		for _, k := range []string{"episode_id", "task_id", "status", "policy_version", "version"} {
			if got[k] != want[k] {
				t.Errorf("row %d: %s is %v, want %v", i, k, got[k], want[k])
			}
		}
		if reward, ok := got["reward"].(float64); want["return"] == nil && ok || want["return"] != nil && reward != want["return"] {
			t.Errorf("row %d: reward %v, want %v", i, got["reward"], want["return"])
		}
		if seed, _ := got["seed"].(int64); float64(seed) != want["seed"] {
			t.Errorf("row %d: seed %v, want %v", i, got["seed"], want["seed"])
		}
		if text := string(must(json.Marshal(got))); !strings.Contains(text, "task train-3 seed") || strings.Contains(text, toy.Secret) {
			t.Errorf("row %d: %s", i, text)
		}
	}
}

// brokenStore gives the list of episodes and cannot read one of them.
type brokenStore struct {
	store.Store
	id string
}

func (b brokenStore) Episode(ctx context.Context, id string) (store.Record, error) {
	if id == b.id {
		return store.Record{}, errors.New("disk " + toy.Secret)
	}
	return b.Store.Episode(ctx, id)
}

// An export that breaks off does not look like one that ended; where nothing
// was sent yet, it is a problem.
func TestExportBreaksOff(t *testing.T) {
	w := serve(t, episode.Config{}, server.Config{})
	_, first := w.env(nil)
	for range 3 {
		id, _ := w.env(nil)
		w.step(id, "finish[42]")
	}
	w.do("DELETE", "/envs/"+w.do("GET", "/episodes/"+first, nil).str("env_id"), nil)
	srv, err := server.New(server.Config{}, episode.New(episode.Config{}, w.mgr.Registry(), nil, nil),
		brokenStore{w.store, first}, server.NewMetrics(api.Version{}))
	if err != nil {
		t.Fatal(err)
	}
	hs := httptest.NewServer(srv.Handler())
	defer hs.Close()
	for _, format := range []string{"jsonl", "parquet"} {
		resp, err := http.Get(hs.URL + "/episodes/export?format=" + format) //nolint:noctx // bounded by the test
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if ok := resp.StatusCode == http.StatusOK; ok != (format == "jsonl") || ok && err == nil {
			t.Errorf("%s: %d, and the transfer ended well: %s", format, resp.StatusCode, b)
		}
		if bytes.Contains(b, []byte(toy.Secret)) || err != nil && bytes.Contains(b, []byte("request_id")) {
			t.Errorf("%s: %s", format, b)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
