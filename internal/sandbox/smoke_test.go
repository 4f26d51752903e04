//go:build linux

package sandbox

import (
	"context"
	"testing"
)

func TestProbeHolds(t *testing.T) {
	rep, err := Probe(context.Background(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(rep.Mode, rep.Interpreter)
	for _, c := range rep.Checks {
		if !c.OK {
			t.Errorf("%s: %s", c.Name, c.Saw)
		}
	}
}
