//go:build linux

package store_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/store"
)

// A disk that is full loses no episode: what could not be written is written
// when there is room again, and meanwhile nobody who reads hangs.
func TestFullDiskLosesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=512k"); err != nil {
		t.Skipf("mounting a small disk needs root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	s, err := store.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	fill := filepath.Join(dir, "fill")
	if err := os.WriteFile(fill, make([]byte, 1<<20), 0o600); err == nil {
		t.Fatal("a mebibyte went onto a disk of half of one")
	}
	for i := range 20 {
		s.Ended(record(fmt.Sprint("ep", i), api.StatusTerminated, 8))
	}
	if _, err := s.Episode(t.Context(), "ep19"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an episode without room: %v", err)
	}
	if s.Failures() == 0 {
		t.Error("no failure was counted")
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	found := 0
	for range 200 {
		found = 0
		for i := range 20 {
			if r, err := s.Episode(t.Context(), fmt.Sprint("ep", i)); err == nil && len(r.Steps) == 8 {
				found++
			}
		}
		if found == 20 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if found != 20 {
		t.Errorf("%d of 20 episodes are there", found)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A store that is closed while its disk is full ends all the same.
func TestCloseOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=512k"); err != nil {
		t.Skipf("mounting a small disk needs root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	s, err := store.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	_ = os.WriteFile(filepath.Join(dir, "fill"), make([]byte, 1<<20), 0o600) // as much as there is room for
	for i := range 20 {
		s.Ended(record(fmt.Sprint("ep", i), api.StatusTerminated, 8))
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case err := <-closed:
		t.Logf("closed: %v", err)
	case <-time.After(30 * time.Second):
		t.Fatal("the store does not close")
	}
}
