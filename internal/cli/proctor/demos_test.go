package proctor

import (
	"bufio"
	"bytes"
	"encoding/json"
	"testing"
)

func TestDemos(t *testing.T) {
	args := []string{"--env", "react-compact", "--n", "300", "--noise", "0.2", "--seed", "3"}
	var out, again, log bytes.Buffer
	if code := demos(t.Context(), args, &out, &log); code != 0 {
		t.Fatalf("exit %d: %s", code, log.String())
	}
	if code := demos(t.Context(), append(args, "--out", "-"), &again, &log); code != 0 || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Error("equal flags gave other bytes, or - is not stdout")
	}
	solved, lines, sc := 0.0, 0, bufio.NewScanner(&out)
	for sc.Scan() {
		var e demoEpisode
		if err := json.Unmarshal(sc.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.Split != "train" || e.TaskID == "" || len(e.Turns) == 0 || e.Turns[0].Observation == "" || e.Public["slice"] != "seen" || e.Reward != e.Score {
			t.Fatalf("odd line %s", sc.Bytes())
		}
		solved += e.Score
		lines++
	}
	if share := solved / 300; lines != 300 || share < 0.45 || share > 0.75 {
		t.Errorf("%d lines, %.2f solved, want a demonstrator that errs", lines, share)
	}
	for _, bad := range [][]string{{}, {"--env", "nope"}, {"--env", "react-compact", "--noise", "2"}, {"--env", "react-compact", "x"}} {
		if code := demos(t.Context(), bad, &out, &log); code != 2 {
			t.Errorf("%q: exit %d, want 2", bad, code)
		}
	}
	if code := demos(t.Context(), []string{"--env", "react-compact", "--split", "nope"}, &out, &log); code != 1 {
		t.Errorf("unknown split: exit %d, want 1", code)
	}
}
