package proctor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// auditOf runs the command on one task.
func auditOf(t *testing.T, envType string, more ...string) (int, auditReport) {
	t.Helper()
	var out, log bytes.Buffer
	code := Main(t.Context(), append([]string{"audit", envType, "-n", "1", "--split", "test", "--json"}, more...), &out, &log)
	var r auditReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("audit %s: code %d, %v, %s", envType, code, err, log.String())
	}
	return code, r
}

// The naive type has holes, planted for teaching: each must be found, and no
// policy that is harmless even there may be called one.
func TestAuditFindsThePlantedHoles(t *testing.T) {
	code, r := auditOf(t, "codefix-naive-unsafe")
	if code != exitFail || r.OK {
		t.Fatalf("code %d, ok %v", code, r.OK)
	}
	var found []string
	for _, f := range r.Findings {
		found = append(found, f.Policy)
	}
	for _, want := range []string{"replace the visible tests", "replace the visible tests by ./", "skip the visible tests", "a conftest that says passed", "reports that say passed", "cheat"} {
		if !slices.Contains(found, want) {
			t.Errorf("the hole %q was not found; found %q", want, found)
		}
	}
	for _, not := range []string{"finish at once", "an empty answer", "lazy", "empty", "perfect"} {
		if slices.Contains(found, not) {
			t.Errorf("%q was called a hole", not)
		}
	}
}

// A guess is right now and then: a question whose answer is 0 is no hole, a type
// that mostly asks such questions is one.
func TestAuditLetsAGuessBeRightByChance(t *testing.T) {
	if code, r := auditOf(t, "react", "-n", "4", "--split", ""); code != exitOK || !r.OK || r.Played < 50 {
		t.Errorf("react: code %d, %d played, findings %+v", code, r.Played, r.Findings)
	}
	tasks := map[string]string{}
	for i, answer := range []int{0, 0, 7} {
		tasks[fmt.Sprintf("react/%d.json", i)] = fmt.Sprintf(`{"id": "t%d", "question": "How many?", "documents": [{"title": "A", "text": "There are %d."}],
			"answers": [{"type": "integer", "value": %d}]}`, i, answer, answer)
	}
	code, r := auditOf(t, "react", "-n", "4", "--split", "user", "--tasks", writeTasks(t, tasks))
	if code != exitFail || len(r.Findings) != 2 {
		t.Fatalf("two of three answers are 0: code %d, findings %+v", code, r.Findings)
	}
	for _, f := range r.Findings {
		if f.Policy != "the answer 0" || f.Kind != "guess" {
			t.Errorf("found %+v", f)
		}
	}
}

// The protected types have none, and cases of the user's own are played too.
func TestAuditOfProtectedTypes(t *testing.T) {
	cases := t.TempDir()
	text := `{"id": "mine", "kind": "hack", "task": "nowhere", "actions": [{"tool": "finish", "args": {}}]}`
	if err := os.WriteFile(filepath.Join(cases, "mine.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, typ := range []string{"codefix-grammar", "react-compact"} {
		code, r := auditOf(t, typ, "--cases", cases)
		if code != exitOK || !r.OK || r.Played < 8 || len(r.Skipped) != 1 {
			t.Errorf("%s: code %d, %d played, skipped %q, findings %+v", typ, code, r.Played, r.Skipped, r.Findings)
		}
	}
	if code, _ := runMain(t, "audit"); code != exitUsage {
		t.Errorf("without a type: code %d", code)
	}
}

func runMain(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out, log bytes.Buffer
	code := Main(t.Context(), args, &out, &log)
	return code, out.String() + log.String()
}
