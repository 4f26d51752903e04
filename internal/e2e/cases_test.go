package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestOwnCases plays the cases of this repository: all of them can be driven.
func TestOwnCases(t *testing.T) {
	driven, left := playAll(t, "testdata/cases", Case.driven)
	if driven < 310 || left > 0 {
		t.Errorf("%d cases driven, %d not: want at least 310 and none", driven, left)
	}
}

// TestOtherCases plays the folder that PROCTOR_CASES names: cases of tools
// that are not driven here belong to other runners and are counted.
func TestOtherCases(t *testing.T) {
	dir := os.Getenv("PROCTOR_CASES")
	if dir == "" {
		t.Skip("PROCTOR_CASES names no folder")
	}
	driven, left := playAll(t, dir, Case.driven)
	t.Logf("%d cases driven, %d belong to other runners", driven, left)
	if driven == 0 {
		t.Error("no case could be driven")
	}
}

// playAll plays the cases of a folder that are chosen, against one server, and
// counts the others.
func playAll(t *testing.T, dir string, chosen func(Case) bool) (driven, left int) {
	t.Helper()
	cases, err := LoadCases(dir)
	if err != nil {
		t.Fatal(err)
	}
	tasks := t.TempDir()
	for _, folder := range []string{"react", "codefix"} {
		if err := os.Mkdir(filepath.Join(tasks, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := codeTasks(dir, filepath.Join(tasks, "codefix")); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if !chosen(c) {
			left++
			continue
		}
		if c.code() {
			continue // its task is a file of its own
		}
		task, err := c.task()
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(task)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tasks, "react", c.ID+".json"), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	base := Serve(t, "--tasks", tasks)
	long := map[string]chan error{}
	for _, c := range cases {
		if c.Long && chosen(c) {
			done := make(chan error, 1)
			long[c.ID] = done
			go func() { done <- c.Play(t.Context(), base) }()
		}
	}
	gate := make(chan struct{}, 3)
	t.Run("all", func(t *testing.T) {
		for _, c := range cases {
			if !chosen(c) {
				continue
			}
			driven++
			t.Run(c.Class+"/"+c.ID, func(t *testing.T) {
				t.Parallel()
				var err error
				if done := long[c.ID]; done != nil {
					err = <-done
				} else {
					gate <- struct{}{}
					defer func() { <-gate }()
					err = c.Play(t.Context(), base)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
	})
	return driven, left
}
