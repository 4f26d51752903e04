package proctor

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/client"
)

// A second server on the folder of a running one is refused, and what the first
// one's episodes earn stays what it was; a server after it takes the folder.
func TestOneServerAFolder(t *testing.T) {
	dir := t.TempDir()
	url, stop := start(t, "--sandbox", "off", "--data", dir)
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
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // for one that is not refused
	defer cancel()
	var errs bytes.Buffer
	code := Main(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--sandbox", "off", "--data", dir}, &bytes.Buffer{}, &errs)
	if code != exitFail || !strings.Contains(errs.String(), "belongs to a server that is running") {
		t.Errorf("a second server ended with %d: %s", code, &errs)
	}
	if e, err := c.Episode(t.Context(), r.EpisodeID); err != nil || e.Status != api.StatusRunning {
		t.Errorf("the episode is %+v, %v", e.Status, err)
	}
	if code := stop(); code != exitOK {
		t.Errorf("stop: %d", code)
	}
	_, stop = start(t, "--sandbox", "off", "--data", dir)
	if code := stop(); code != exitOK {
		t.Errorf("stop of the next: %d", code)
	}
}

// Who serves twice on one port, as by following the README twice, is told what
// to do.
func TestPortTaken(t *testing.T) {
	url, stop := start(t, "--sandbox", "off")
	defer stop()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // for one that is not refused
	defer cancel()
	var errs bytes.Buffer
	code := Main(ctx, []string{"serve", "--listen", strings.TrimPrefix(url, "http://"), "--sandbox", "off"}, &bytes.Buffer{}, &errs)
	if code != exitFail || !strings.Contains(errs.String(), "--listen") {
		t.Errorf("a port that is taken: %d %s", code, &errs)
	}
}

// The backup that docs/operations.md shows, taken while a server plays, is a
// folder that can be read and served.
func TestBackupOfTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^python3 -c .*$`).Find(page)
	if line == nil {
		t.Fatal("docs/operations.md shows no backup")
	}
	dir := t.TempDir()
	url, stop := start(t, "--sandbox", "off", "--data", filepath.Join(dir, "data"))
	defer stop()
	c, err := client.New(url, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	env, err := c.Create(t.Context(), api.CreateEnvRequest{Type: "react-compact"})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // two are ended by the next, one runs
		if _, err := c.Reset(t.Context(), env.EnvID, api.ResetRequest{Split: api.SplitTest}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Episodes(t.Context(), api.ListEpisodesParams{}); err != nil { // what was written is in the file by now
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", string(line)+" && mkdir back && mv backup.db back/proctor.db")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	back := filepath.Join(dir, "back")
	_, stopBack := start(t, "--sandbox", "off", "--data", back)
	if code := stopBack(); code != exitOK {
		t.Errorf("serving the copy: %d", code)
	}
	var out, errs bytes.Buffer
	if code := Main(t.Context(), []string{"export", "--data", back}, &out, &errs); code != exitOK {
		t.Fatalf("export: %d %s", code, &errs)
	}
	if got := strings.Count(out.String(), `"status":"closed"`) + 10*strings.Count(out.String(), `"status":"failed"`); got != 12 {
		t.Errorf("the copy holds %s", &out)
	}
}
