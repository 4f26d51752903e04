package algo_test

import (
	"slices"
	"testing"

	"github.com/proctor-rl/proctor/trainer/algo"
	"github.com/proctor-rl/proctor/trainer/rl"
)

// TestReferenceStaysFrozen is P13: over ten updates that move the policy the
// reference keeps its parameters bit for bit, and the KL between the two, zero
// before the first step, grows.
func TestReferenceStaysFrozen(t *testing.T) {
	c := algo.Default()
	c.GRPO.KL = 0.01
	p, ref := newTable(4), newTable(4)
	copy(p.params, []float32{.3, -.2, .1, 0})
	copy(ref.params, p.params)
	frozen := slices.Clone(ref.params)
	a, err := algo.New(c, p, ref, stepper(p, .05), 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	var kl []float64
	for u := range 10 {
		stats, err := a.Update(1, uint64(u+1), []rl.Group{{Members: []rl.Trajectory{episode(p, 2, 1, true), episode(p, 1, 0, true)}}})
		if err != nil {
			t.Fatal(err)
		}
		kl = append(kl, stats["loss_kl"])
		if !slices.Equal(ref.params, frozen) {
			t.Fatalf("update %d moved the reference to %v", u+1, ref.params)
		}
	}
	if kl[0] != 0 || kl[9] <= 0 || kl[9] <= kl[4] {
		t.Errorf("KL loss by update %v: want 0 first, then growing", kl)
	}
	if slices.Equal(p.params, frozen) {
		t.Error("the policy did not move")
	}
}
