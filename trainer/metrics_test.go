package trainer_test

import (
	"context"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/proctor-rl/proctor/trainer"
)

// TestPrometheusMetrics: after a run every metric is there, has the prefix,
// passes the linter, and says what the run's own files say.
func TestPrometheusMetrics(t *testing.T) {
	reg := prometheus.NewRegistry()
	dir := t.TempDir()
	f := newFake()
	c := miniConfig()
	c.RL.Updates, c.Eval.Every = 2, 2
	tr, err := trainer.New(c, trainer.Options{Dir: dir, Catalogue: f, Dial: f.dial, Registerer: reg})
	if err != nil {
		t.Fatal(err)
	}
	_, err = tr.Run(context.Background())
	if cerr := tr.Close(); cerr != nil {
		t.Error(cerr)
	}
	if err != nil {
		t.Fatal(err)
	}
	problems, err := testutil.GatherAndLint(reg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, m := range families {
		if !strings.HasPrefix(m.GetName(), "trainer_") {
			t.Errorf("%s has not the prefix", m.GetName())
		}
		for _, x := range m.GetMetric() {
			values[m.GetName()] += x.GetCounter().GetValue() + x.GetGauge().GetValue()
		}
	}
	rows, err := trainer.ReadRows(dir)
	if err != nil {
		t.Fatal(err)
	}
	last := rows[len(rows)-1].Values
	for name, want := range map[string]float64{
		"trainer_updates_total": 2, "trainer_update": 2, "trainer_episodes_total": float64(2 * c.RL.Tasks * c.RL.Group),
		"trainer_reward_mean": last["reward_mean"], "trainer_entropy_nats": last["entropy"],
		"trainer_eval_success_ratio": last["eval_success_greedy"] + last["eval_success_sampled"],
	} {
		if got, ok := values[name]; !ok || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// TestReferenceIsACopy is P13 in a whole run: a reference that shared the
// policy's storage would make the KL zero for ever.
func TestReferenceIsACopy(t *testing.T) {
	dir := t.TempDir()
	c := miniConfig()
	c.RL.Updates, c.RL.Algo.GRPO.KL, c.Eval.Every, c.Eval.Test = 10, 0.01, 0, 0
	c.RL.Algo.GRPO.KeepZero = true // so that every update has samples to compare
	if _, err := run(t, c, newFake(), dir, 0); err != nil {
		t.Fatal(err)
	}
	rows, err := trainer.ReadRows(dir)
	if err != nil || len(rows) < 10 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	kl := rows[len(rows)-1].Values["loss_kl"]
	if kl <= 0 {
		t.Errorf("KL loss after ten updates is %v", kl)
	}
}
