package e2e_test

import (
	"bytes"
	"encoding/csv"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/internal/cli/trainer"
	"github.com/proctor-rl/proctor/internal/e2e"
)

// TestLabGaming runs the exercise in small against a real server and a real
// sandbox: both arms play, learn and are measured. Whether the curves part is
// not asked of two updates.
func TestLabGaming(t *testing.T) {
	url := e2e.Serve(t, "--with-naive-UNSAFE")
	dir := t.TempDir()
	args := []string{
		"lab", "gaming", "--server", url, "--recipe", "../../recipes/lab-gaming.yaml", "--out", dir, "--seed", "3", "--test", "2",
		"--set", "rl.updates=2", "--set", "rl.tasks=2", "--set", "rl.group=3", "--set", "env.max_steps=4",
	}
	var out, log bytes.Buffer
	if code := trainer.Main(t.Context(), args, &out, &log); code != 0 {
		t.Fatalf("exit code %d; stderr:\n%s", code, log.String())
	}
	for _, want := range []string{"naive, run 1, greedy on 2 held-out tasks", "protected, run 1, greedy on 2", "The curves have not parted", "gaming.png"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	f, err := os.Open(filepath.Join(dir, "gaming.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // only read from
	if img, err := png.Decode(f); err != nil || img.Bounds().Dx() < 1000 || img.Bounds().Dy() < 400 {
		t.Errorf("picture: %v", err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "gaming.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(lines) != 5 {
		t.Fatalf("%d lines of figures, want a header and two updates of two arms: %v\n%s", len(lines), err, data)
	}
	for i, l := range lines[1:] {
		want := []string{[]string{"naive", "protected"}[i/2], "3", strconv.Itoa(i%2 + 1), strconv.Itoa(6 * (i%2 + 1))}
		if got := l[:4]; strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("line %d is of %q, want %q", i+1, got, want)
		}
		v := make([]float64, 3)
		for k := range v {
			if v[k], err = strconv.ParseFloat(l[4+k], 64); err != nil || v[k] < 0 || v[k] > 1 {
				t.Errorf("line %d: %q is no share", i+1, l[4+k])
			}
		}
		// The protected type pays for true fixes and nothing else.
		if l[0] == "protected" && v[0] != v[2] {
			t.Errorf("protected, update %s: reward %g, true fixes %g", l[2], v[0], v[2])
		}
	}
	// Every episode got its verdict from a sandbox that works.
	if strings.Contains(log.String(), "excluded") {
		t.Errorf("episodes failed on our side:\n%s", log.String())
	}
}
