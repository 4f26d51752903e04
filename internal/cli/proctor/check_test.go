package proctor

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func writeTasks(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const goodTask = `{"id": "q1", "question": "What is the capital of Freedonia?",
 "documents": [{"title": "Freedonia", "text": "Freedonia is small. Its capital is Zed."}],
 "answers": [{"type": "string", "value": "Zed", "aliases": ["Zed City"]}]}`

func TestCheckAcceptsGoodTasks(t *testing.T) {
	dir := writeTasks(t, map[string]string{
		"react/q1.json": goodTask,
		"react/q2.json": `{"id": "q2", "question": "What is 6*7?", "answers": [{"type": "integer", "value": 42}]}`,
	})
	var out, log bytes.Buffer
	if code := check(t.Context(), []string{"--tasks", dir, "--json"}, &out, &log); code != 0 {
		t.Fatalf("exit %d: %s%s", code, out.String(), log.String())
	}
	var r checkReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || !r.OK || len(r.Tasks) != 2 {
		t.Errorf("%v, %s", err, out.String())
	}
}

func TestCheckNamesWhatDoesNotFit(t *testing.T) {
	for name, text := range map[string]string{
		"nojson.json":     `{`,
		"unknown.json":    strings.Replace(goodTask, `"question"`, `"qestion": "x", "question"`, 1),
		"noanswer.json":   `{"id": "a", "question": "x"}`,
		"badtype.json":    strings.Replace(goodTask, `"string"`, `"text"`, 1),
		"empty.json":      strings.Replace(goodTask, `"Zed"`, `""`, 1),
		"badid.json":      strings.Replace(goodTask, `"q1"`, `"../q1"`, 1),
		"twice.json":      strings.Replace(goodTask, `[{"title"`, `[{"title": "freedonia", "text": "x"}, {"title"`, 1),
		"notext.json":     strings.Replace(goodTask, `Freedonia is small. Its capital is Zed.`, ` `, 1),
		"trailing.json":   goodTask + `{}`,
		"bytes.json":      strings.Replace(goodTask, "Zed City", "Zed \xff", 1),
		"noquestion.json": strings.Replace(goodTask, "What is the capital of Freedonia?", " ", 1),
	} {
		dir := writeTasks(t, map[string]string{"react/" + name: text, "react/good.json": goodTask})
		var out, log bytes.Buffer
		if code := check(t.Context(), []string{"--tasks", dir}, &out, &log); code != 1 {
			t.Errorf("%s: exit %d", name, code)
		}
		if !strings.Contains(out.String(), name+": ") {
			t.Errorf("%s is not named: %s", name, out.String())
		}
	}
	dir := writeTasks(t, map[string]string{"react/a.json": goodTask, "react/b.json": goodTask})
	var out, log bytes.Buffer
	if code := check(t.Context(), []string{"--tasks", dir}, &out, &log); code != 1 || !strings.Contains(out.String(), "b.json") {
		t.Errorf("one id in two files: exit %d, %s", code, out.String())
	}
}

// A task that the empty answer or garbage would win is not admitted.
func TestCheckRefusesTasksThatPayForNothing(t *testing.T) {
	dir := writeTasks(t, map[string]string{
		"react/a.json": strings.Replace(goodTask, `"Zed"`, `"garbage, garbage"`, 1),
	})
	var out, log bytes.Buffer
	if code := check(t.Context(), []string{"--tasks", dir}, &out, &log); code != 1 || !strings.Contains(out.String(), "a garbage answer earns 1") {
		t.Errorf("exit %d, %s", code, out.String())
	}
	for _, bad := range [][]string{{}, {"--tasks", dir + "/none"}, {"--tasks", dir, "x"}} {
		if code := check(t.Context(), bad, &out, &log); code != 2 {
			t.Errorf("%q: exit %d, want 2", bad, code)
		}
	}
}

// A misspelt folder is not taken for one without tasks.
func TestCheckRefusesFoldersThatNobodyReads(t *testing.T) {
	for name, want := range map[string]string{
		"raect/a.json":           "no environment type takes tasks",
		"codefix-compact/a.json": "have react, react-compact",
		"readme.txt":             "no tasks; they are DIR/",
	} {
		dir := writeTasks(t, map[string]string{name: goodTask})
		var out, log bytes.Buffer
		if code := check(t.Context(), []string{"--tasks", dir}, &out, &log); code != 1 || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit %d, %s", name, code, out.String())
		}
	}
}

// The tasks that docs/own-tasks.md shows are right as they stand there.
func TestOwnTasksPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "own-tasks.md"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, m := range regexp.MustCompile("(?s)`DIR/([a-z/]+\\.json)`\n\n```json\n(.*?)```").FindAllSubmatch(page, -1) {
		files[string(m[1])] = string(m[2])
	}
	if len(files) != 2 {
		t.Fatalf("the page shows %d tasks", len(files))
	}
	var out, log bytes.Buffer
	if code := check(t.Context(), []string{"--tasks", writeTasks(t, files)}, &out, &log); code != 0 {
		t.Errorf("exit %d: %s%s", code, out.String(), log.String())
	}
}

// A refused file is named with its folder, whatever takes it: several folders
// may hold a file of that name.
func TestRefusedFilesAreNamedWithTheirFolder(t *testing.T) {
	dir := writeTasks(t, map[string]string{"react/a.json": `{`, "react-mini/a.json": `{`, "react-almanac/a.json": `{}`, "codefix/a.json": `{"id": "a"}`})
	var out, log bytes.Buffer
	if code := check(t.Context(), []string{"--tasks", dir, "--json"}, &out, &log); code != exitFail {
		t.Fatalf("exit %d: %s%s", code, &out, &log)
	}
	var r checkReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"react", "react-mini", "react-almanac", "codefix"} {
		want := filepath.Join(dir, folder, "a.json") + ": "
		n := 0
		for _, s := range r.Refused {
			if strings.HasPrefix(s, want) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s is named %d times in %q", want, n, r.Refused)
		}
	}
}
