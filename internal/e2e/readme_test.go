package e2e_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/proctor-rl/proctor/envs"
	"github.com/proctor-rl/proctor/envs/all"
	"github.com/proctor-rl/proctor/internal/e2e"
)

// readme is the root README and its fenced shell blocks.
func readme(t *testing.T) (text string, commands []string) {
	t.Helper()
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(data), -1) {
		commands = append(commands, strings.Split(strings.TrimSpace(m[1]), "\n")...)
	}
	return string(data), commands
}

// TestReadmeCurl runs the README's curl lines as they are printed, but for the
// port, and looks at what a reader would look at.
func TestReadmeCurl(t *testing.T) {
	_, commands := readme(t)
	url := e2e.Serve(t)
	var replies []map[string]any
	for _, c := range commands {
		if !strings.HasPrefix(c, "curl ") {
			continue
		}
		c = strings.ReplaceAll(c, "localhost:8080", strings.TrimPrefix(url, "http://"))
		out, err := exec.CommandContext(t.Context(), "bash", "-c", c).Output()
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		var r map[string]any
		if len(bytes.TrimSpace(out)) > 0 {
			if err := json.Unmarshal(out, &r); err != nil {
				t.Fatalf("%s answered %s", c, out)
			}
		}
		replies = append(replies, r)
	}
	if len(replies) != 5 {
		t.Fatalf("%d curl lines, want create, reset, step, step, delete", len(replies))
	}
	if replies[0]["env_id"] != "demo" {
		t.Errorf("create answered %v", replies[0])
	}
	text := func(r map[string]any) string {
		obs, _ := r["observation"].(map[string]any)
		s, _ := obs["text"].(string)
		return s
	}
	if !strings.HasPrefix(text(replies[1]), "Question: ") {
		t.Errorf("reset answered %v", replies[1])
	}
	if text(replies[2]) != "42" || replies[2]["done"] != false {
		t.Errorf("the first step answered %v", replies[2])
	}
	if replies[3]["done"] != true || replies[3]["step"] != 1.0 || replies[3]["episode_id"] != replies[2]["episode_id"] {
		t.Errorf("the second step answered %v", replies[3])
	}
}

// TestReadmeNamesWhatExists: every verb and every subcommand that the README
// names is there.
func TestReadmeNamesWhatExists(t *testing.T) {
	text, _ := readme(t)
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	verbs := regexp.MustCompile(`make ([a-z0-9-]+)`).FindAllStringSubmatch(text, -1)
	if len(verbs) < 3 {
		t.Errorf("the README names %d make verbs", len(verbs))
	}
	for _, m := range verbs {
		if !strings.Contains(string(makefile), "\n"+m[1]+": ") {
			t.Errorf("the README says %q, the Makefile has no such verb", m[0])
		}
	}
	for _, m := range regexp.MustCompile(`bin/(proctor|trainer) ([a-z]+)`).FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat("../cli/" + m[1]); err != nil {
			t.Fatal(err)
		}
		source, err := os.ReadFile("../cli/" + m[1] + "/main.go")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(source), `"`+m[2]+`"`) {
			t.Errorf("the README says %q, the program has no such command", m[0])
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([a-z][^):]*)\)`).FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat("../../" + m[1]); err != nil {
			t.Errorf("the README links to %s: %v", m[1], err)
		}
	}
	if lines := strings.Count(text, "\n"); lines > 100 {
		t.Errorf("the README has %d lines, more than two screens", lines)
	}
}

// TestReadmeNamesEveryType: the table of environments has what a server plays,
// each in its first column.
func TestReadmeNamesEveryType(t *testing.T) {
	text, _ := readme(t)
	var reg envs.Registry
	if err := all.Register(&reg, all.Options{}); err != nil {
		t.Fatal(err)
	}
	columns := strings.Join(regexp.MustCompile("(?m)^\\| `[^|]*\\|").FindAllString(text, -1), "")
	for _, typ := range reg.Types() {
		if name := typ.Spec().Name; !strings.Contains(columns, "`"+name+"`") {
			t.Errorf("the README's table lacks %s", name)
		}
	}
}

// TestEveryExerciseHasAPage: each verb lab-NAME is described in docs/labs/NAME.md
// and listed on the page that the README links to.
func TestEveryExerciseHasAPage(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile("../../docs/labs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	verbs := regexp.MustCompile(`(?m)^lab-([a-z]+):`).FindAllStringSubmatch(string(makefile), -1)
	if len(verbs) < 3 {
		t.Fatalf("%d exercises", len(verbs))
	}
	for _, m := range verbs {
		page, err := os.ReadFile("../../docs/labs/" + m[1] + ".md")
		if err != nil || !strings.Contains(string(page), "make lab-"+m[1]) {
			t.Errorf("make lab-%s has no page that names it: %v", m[1], err)
		}
		if !strings.Contains(string(index), "("+m[1]+".md)") {
			t.Errorf("docs/labs/README.md does not list %s", m[1])
		}
	}
}
