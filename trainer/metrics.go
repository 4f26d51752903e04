package trainer

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/proctor-rl/proctor/trainer/rl"
)

// metrics are the figures of a run for Prometheus. Labels come from closed
// sets.
type metrics struct {
	update    prometheus.Gauge
	updates   prometheus.Counter
	episodes  *prometheus.CounterVec
	tokens    prometheus.Counter
	seconds   *prometheus.CounterVec
	reward    prometheus.Gauge
	success   prometheus.Gauge
	entropy   prometheus.Gauge
	kl        prometheus.Gauge
	gradNorm  prometheus.Gauge
	zeroStd   prometheus.Gauge
	clipped   *prometheus.GaugeVec
	mismatch  prometheus.Gauge
	heldOut   *prometheus.GaugeVec
	loss      prometheus.Gauge
	tokenRate prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) *metrics {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "trainer", Name: name, Help: help})
	}
	m := &metrics{
		update:    gauge("update", "Updates made so far."),
		updates:   prometheus.NewCounter(prometheus.CounterOpts{Namespace: "trainer", Name: "updates_total", Help: "Updates made by this process."}),
		episodes:  prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "trainer", Name: "episodes_total", Help: "Training episodes by outcome."}, []string{"outcome"}),
		tokens:    prometheus.NewCounter(prometheus.CounterOpts{Namespace: "trainer", Name: "tokens_total", Help: "Tokens of training episodes."}),
		seconds:   prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "trainer", Name: "phase_seconds_total", Help: "Time spent by phase."}, []string{"phase"}),
		reward:    gauge("reward_mean", "Mean return of the last update's episodes."),
		success:   gauge("success_ratio", "Share of the last update's episodes that passed."),
		entropy:   gauge("entropy_nats", "Mean token entropy of the last update."),
		kl:        gauge("approx_kl", "Estimated KL between the policy before and after the last update."),
		gradNorm:  gauge("grad_norm", "Gradient norm before clipping in the last update."),
		zeroStd:   gauge("zero_std_ratio", "Share of groups whose rewards agree."),
		clipped:   prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "trainer", Name: "clipped_ratio", Help: "Share of clipped tokens by side."}, []string{"side"}),
		mismatch:  gauge("sampler_abs_logp_diff_max", "Largest difference between sampler and trainer log-probabilities."),
		heldOut:   prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "trainer", Name: "eval_success_ratio", Help: "Held-out success by decoding."}, []string{"decoding"}),
		loss:      gauge("warm_start_loss_nats", "Loss of the supervised warm start."),
		tokenRate: gauge("tokens_per_second", "Tokens per second of the last update, rollout and learning together."),
	}
	if reg != nil {
		reg.MustRegister(m.update, m.updates, m.episodes, m.tokens, m.seconds, m.reward, m.success, m.entropy, m.kl,
			m.gradNorm, m.zeroStd, m.clipped, m.mismatch, m.heldOut, m.loss, m.tokenRate)
	}
	return m
}

// observe takes up the figures of one update.
func (m *metrics) observe(update int, s rl.Stats) {
	m.update.Set(float64(update))
	m.updates.Inc()
	n := s["episodes"]
	bad := n * s["infra_error_rate"]
	good := (n - bad) * s["success_rate"]
	m.episodes.WithLabelValues("passed").Add(good)
	m.episodes.WithLabelValues("failed").Add(n - bad - good)
	m.episodes.WithLabelValues("excluded").Add(bad)
	m.tokens.Add(s["tokens"])
	for _, phase := range []string{"rollout", "env_wait", "update"} {
		m.seconds.WithLabelValues(phase).Add(s["time_"+phase])
	}
	m.reward.Set(s["reward_mean"])
	m.success.Set(s["success_rate"])
	m.entropy.Set(s["entropy"])
	m.kl.Set(s["approx_kl"])
	m.gradNorm.Set(s["grad_norm"])
	m.zeroStd.Set(s["frac_zero_std"])
	m.clipped.WithLabelValues("low").Set(s["clip_frac_low"])
	m.clipped.WithLabelValues("high").Set(s["clip_frac_high"])
	m.mismatch.Set(s["sampler_abs_logp_diff_max"])
	m.tokenRate.Set(s["tokens_per_s"])
}
