package server

import (
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/proctor-rl/proctor/api"
	"github.com/proctor-rl/proctor/server/episode"
)

// Metrics measures the server. It is an episode.Observer. Labels come from
// closed sets only: env types, statuses, phases, boundaries.
type Metrics struct {
	reg        *prometheus.Registry
	episodes   *prometheus.CounterVec
	reward     *prometheus.HistogramVec
	unfinished *prometheus.CounterVec
	steps      *prometheus.CounterVec
	phases     *prometheus.HistogramVec
	live       *prometheus.GaugeVec
	failures   *prometheus.CounterVec
	sockets    prometheus.Gauge
	slow       prometheus.Counter
	played     sync.Map // env type to *stepMetrics: looking labels up costs more than counting
}

// stepMetrics are an env type's part of the metrics of steps.
type stepMetrics struct {
	steps              prometheus.Counter
	queue, exec, grade prometheus.Observer
}

// NewMetrics registers the server's metrics on a registry of their own.
func NewMetrics(build api.Version) *Metrics {
	reg := prometheus.NewRegistry()
	m := &Metrics{
		reg: reg,
		episodes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "proctor_episodes_total", Help: "Episodes that ended.",
		}, []string{"env", "status"}),
		reward: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "proctor_episode_reward", Help: "Returns of ended episodes; those that were not measured are not in it.",
			Buckets: []float64{-1, -0.5, -0.1, 0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999, 1, 2, 5},
		}, []string{"env"}),
		unfinished: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "proctor_episodes_unfinished_total", Help: "Episodes that were closed after a step and before their end, so that nobody knows their return, by what closed them.",
		}, []string{"env", "by"}),
		steps: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "proctor_steps_total", Help: "Steps played.",
		}, []string{"env"}),
		phases: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "proctor_step_duration_seconds", Help: "Time spent on a step, by phase.",
			Buckets: []float64{1e-6, 1e-5, 1e-4, 1e-3, 5e-3, 0.02, 0.1, 0.5, 2, 10, 60},
		}, []string{"env", "phase"}),
		live: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "proctor_live_envs", Help: "Envs that live.",
		}, []string{"env"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "proctor_failures_total", Help: "Failures of our side, by the boundary where it broke.",
		}, []string{"env", "boundary"}),
		sockets: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "proctor_websocket_connections", Help: "Open WebSocket connections.",
		}),
		slow: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "proctor_websocket_slow_readers_total", Help: "Connections closed because the client read too slowly.",
		}),
	}
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "proctor_build_info", Help: "The running build; always 1.",
	}, []string{"version", "revision", "go_version"})
	info.WithLabelValues(build.Version, build.Revision, build.GoVersion).Set(1)
	reg.MustRegister(m.episodes, m.reward, m.unfinished, m.steps, m.phases, m.live, m.failures, m.sockets, m.slow, info,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler serves the exposition text.
func (m *Metrics) Handler() http.Handler { return promhttp.HandlerFor(m.reg, promhttp.HandlerOpts{}) }

// Gatherer reads the registry.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.reg }

// Stepped reports the phases of one step.
func (m *Metrics) Stepped(env string, queue, exec, grade time.Duration) {
	s := m.of(env)
	s.steps.Inc()
	s.queue.Observe(queue.Seconds())
	s.exec.Observe(exec.Seconds())
	if grade > 0 {
		s.grade.Observe(grade.Seconds())
	}
}

func (m *Metrics) of(env string) *stepMetrics {
	if v, ok := m.played.Load(env); ok {
		if s, ok := v.(*stepMetrics); ok {
			return s
		}
	}
	s := &stepMetrics{
		m.steps.WithLabelValues(env), m.phases.WithLabelValues(env, "queue"),
		m.phases.WithLabelValues(env, "exec"), m.phases.WithLabelValues(env, "grade"),
	}
	m.played.Store(env, s)
	return s
}

// Ended reports an episode's end.
func (m *Metrics) Ended(ep *api.Episode) {
	m.episodes.WithLabelValues(ep.Type, string(ep.Status)).Inc()
	if ep.Return != nil {
		m.reward.WithLabelValues(ep.Type).Observe(*ep.Return)
	}
	if ep.Status == api.StatusClosed && ep.Steps > 0 {
		m.unfinished.WithLabelValues(ep.Type, string(ep.ClosedBy)).Inc()
	}
}

// expect makes an environment type's series of ends and failures start at zero: a
// counter that first appears at one shows no rise.
func (m *Metrics) expect(env string) {
	for _, st := range []api.Status{api.StatusTerminated, api.StatusTruncated, api.StatusFailed, api.StatusClosed} {
		m.episodes.WithLabelValues(env, string(st))
	}
	for _, by := range []api.ClosedBy{api.ClosedByClient, api.ClosedByIdle, api.ClosedByDrain} {
		m.unfinished.WithLabelValues(env, string(by))
	}
	for _, at := range []episode.Boundary{
		episode.BoundaryCreate, episode.BoundaryReset, episode.BoundaryStep,
		episode.BoundaryGrade, episode.BoundaryPanic, episode.BoundaryHang,
	} {
		m.failures.WithLabelValues(env, string(at))
	}
}

// countStore adds the store's own count of refused commits.
func (m *Metrics) countStore(failures func() int64) {
	m.reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "proctor_record_failures_total", Help: "Commits of episodes that the disk refused; they are tried again.",
	}, func() float64 { return float64(failures()) }))
}

// Broke reports a failure of our side.
func (m *Metrics) Broke(env string, at episode.Boundary) {
	m.failures.WithLabelValues(env, string(at)).Inc()
}

// Live reports the live envs of a type.
func (m *Metrics) Live(env string, n int) { m.live.WithLabelValues(env).Set(float64(n)) }
