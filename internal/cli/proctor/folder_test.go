package proctor

import (
	"bytes"
	"context"
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
