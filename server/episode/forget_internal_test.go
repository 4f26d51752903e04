package episode

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// Making and ending an env of one name again and again must not grow what is
// remembered.
func TestTombsStayBounded(t *testing.T) {
	var g tombs
	k := slotKey{"me", "demo"}
	for range 3 * maxTombs {
		g.forget(k)
		g.add(k, false)
	}
	if len(g.order) > 2*maxTombs {
		t.Errorf("%d entries are kept for one name", len(g.order))
	}
	for i := range 2 * maxTombs {
		g.add(slotKey{"me", fmt.Sprint(i)}, true)
	}
	if len(g.was) > maxTombs || len(g.order) > 2*maxTombs {
		t.Errorf("%d tombs, %d in order", len(g.was), len(g.order))
	}
	if !g.has(slotKey{"me", fmt.Sprint(2*maxTombs - 1)}) {
		t.Error("the newest is forgotten")
	}
	// A name that came back and went again is as new as its last end.
	g.forget(k)
	g.add(k, false)
	for i := range maxTombs - 1 {
		g.add(slotKey{"you", fmt.Sprint(i)}, false)
	}
	if !g.has(k) {
		t.Error("an old entry of its name took a new tomb away")
	}
}

// A failed create may be tried again under its key, and the success is kept as
// long as any other.
func TestMemoKeepsRetriedSuccess(t *testing.T) {
	var m memo
	fail := errors.New("full")
	for range 100 {
		if _, _, err := m.do(context.Background(), "k", [32]byte{}, func() (Created, error) { return Created{}, fail }); !errors.Is(err, fail) {
			t.Fatal(err)
		}
	}
	ok := func() (Created, error) { return Created{ID: "made"}, nil }
	if _, _, err := m.do(context.Background(), "k", [32]byte{}, ok); err != nil {
		t.Fatal(err)
	}
	for i := range maxCreates - 1 {
		if _, _, err := m.do(context.Background(), fmt.Sprint(i), [32]byte{}, ok); err != nil {
			t.Fatal(err)
		}
	}
	c, replayed, err := m.do(context.Background(), "k", [32]byte{}, func() (Created, error) { return Created{}, fail })
	if err != nil || !replayed || c.ID != "made" {
		t.Errorf("got %+v, %v, %v", c, replayed, err)
	}
}
