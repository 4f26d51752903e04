package main

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
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
