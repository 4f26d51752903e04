//go:build linux

package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/internal/ordinary"
)

// asOrdinary names the folders of cases that TestCodeCases plays, in the process
// that TestAsOrdinaryUser starts.
const asOrdinary = "PROCTOR_TEST_ORDINARY"

// TestAsOrdinaryUser plays the cases on code again, own and outside ones, with
// server and sandbox as a user without any right, if the tests run as root.
func TestAsOrdinaryUser(t *testing.T) {
	run := ordinary.Run{Args: []string{"-test.run=^TestCodeCases$", "-test.v"}, Folders: map[string]string{"own": "testdata/cases"}}
	folders := "own"
	if outside := os.Getenv("PROCTOR_CASES"); outside != "" {
		run.Folders["outside"] = outside
		folders += ",outside"
	}
	run.Env = []string{asOrdinary + "=" + folders}
	out := ordinary.Again(t, run)
	for line := range strings.Lines(out) {
		if _, counts, ok := strings.Cut(line, "counted "); ok {
			t.Log(strings.TrimSpace(counts))
		}
	}
}

// TestCodeCases is what TestAsOrdinaryUser starts.
func TestCodeCases(t *testing.T) {
	folders := os.Getenv(asOrdinary)
	if folders == "" {
		t.Log("started by TestAsOrdinaryUser")
		return
	}
	for dir := range strings.SplitSeq(folders, ",") {
		driven, _ := playAll(t, dir, Case.code)
		t.Logf("counted %s: %d cases on code as user %d", dir, driven, os.Geteuid())
		if driven < 50 {
			t.Errorf("%s: %d cases on code, want at least 50", dir, driven)
		}
	}
}
