package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A side answers an order to train with a loss near that of guessing, and an
// order to decode with a time, one line each.
func TestSideAnswersOrders(t *testing.T) {
	in, orders := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := serve(in, out, 1)
		_ = out.Close() // a pipe of this process does not fail to close
		ended <- err
	}()
	lines := bufio.NewScanner(answers)
	read := func(v any) {
		t.Helper()
		if !lines.Scan() {
			t.Fatal("the side said nothing")
		}
		if err := json.Unmarshal(lines.Bytes(), v); err != nil {
			t.Fatal(err)
		}
	}
	var g greeting
	read(&g)
	if g.Threads != 1 || g.Name == "" {
		t.Errorf("greeting %+v", g)
	}
	for _, line := range []string{
		`{"what":"train","size":"d128","steps":1}`,
		`{"what":"decode","size":"d128","batch":1}`,
	} {
		if _, err := io.WriteString(orders, line+"\n"); err != nil {
			t.Fatal(err)
		}
		var got turn
		read(&got)
		if got.Seconds <= 0 {
			t.Errorf("%s took %v s", line, got.Seconds)
		}
		if strings.Contains(line, "train") && math.Abs(got.Loss-math.Log(vocab)) > 1 {
			t.Errorf("loss %v of random tokens, want about %v", got.Loss, math.Log(vocab))
		}
	}
	if err := orders.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the side ended with %v", err)
	}
}

// The counts of operations by hand for d256: 4 layers of 12*256*256 weights
// and a head of 512*256.
func TestOperationsCounted(t *testing.T) {
	s, err := sizeNamed("d256")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.weights(), 3276800.0; got != want {
		t.Errorf("weights %v, want %v", got, want)
	}
	if got, want := s.trainFlops(), 3*4096*(2*3276800.0+2*256*256*4); got != want {
		t.Errorf("training step %v, want %v", got, want)
	}
	if got, want := s.decodeFlops(), 2*3276800.0+4*80*256*4; got != want {
		t.Errorf("decoded token %v, want %v", got, want)
	}
	if _, err := sizeNamed("d1"); err == nil {
		t.Error("a size that does not exist was found")
	}
}

// What was saved prints as it did, and the tables put each speed, its part of
// the peak and the ratio where their heads say.
func TestReportTables(t *testing.T) {
	s, err := sizeNamed("d128")
	if err != nil {
		t.Fatal(err)
	}
	r := &report{
		Rounds: 3, Sides: []string{"ours", "theirs"},
		Limits: []limits{{Cores: 2, Peak: 200e9, Read: []float64{4e11, 3e11, 2e11, 1e10}}},
		Contests: []*contest{
			{Size: s, Threads: 2, Best: []turn{{Seconds: 0.256}, {Seconds: 0.512}}},
			{Size: s, Threads: 2, Batch: 64, Best: []turn{{Seconds: 0.5}, {Seconds: 1.5}}},
			{Size: s, Threads: 2, Batch: 1, Best: []turn{{Seconds: 0.1}, {Absent: true}}},
		},
	}
	path := filepath.Join(t.TempDir(), "report.json")
	if err := r.save(path); err != nil {
		t.Fatal(err)
	}
	again, err := loadReport(path)
	if err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	r.print(&a)
	again.print(&b)
	if a.String() != b.String() {
		t.Errorf("printed after loading:\n%s\nbefore:\n%s", &b, &a)
	}
	for _, want := range []string{
		// 5.898 million operations a token, 16,000 tokens a second: 94.4 GF/s of 200.
		"| d128 L4 H4 | 2 | 256 ms | 16000 | 94.4 | 47 | 8000 | 24 | 2.00 |",
		"| d128 L4 H4 | 64 | 2 | 12160 | 11 | 4053 | 4 | 3.00 |",
		"| d128 L4 H4 | 1 | 2 | 950 | 1 | – | – | – |",
		"| 2 | 200.0 GF/s | 400 GB/s | 300 GB/s | 200 GB/s | 10 GB/s |",
	} {
		if !strings.Contains(a.String(), want) {
			t.Errorf("%q is not in\n%s", want, &a)
		}
	}
	if n := strings.Count(string(r.roofline()), "<circle"); n != 5 {
		t.Errorf("%d points in the plot, want 5: the absent has none", n)
	}
}

// A side that runs on another number of threads than it was told is refused.
func TestSideMustHaveEqualThreads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "side")
	script := "#!/bin/sh\necho '{\"name\":\"x\",\"threads\":7}'\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := start(path, 2); err == nil || !strings.Contains(err.Error(), "7 threads") {
		t.Errorf("start gives %v", err)
	}
}
