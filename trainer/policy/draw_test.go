package policy_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/proctor-rl/proctor/trainer/policy"
)

// shares is how often each token is drawn over evenly spaced uniform numbers,
// and the log-probability reported for it.
func shares(logits []float32, cfg policy.SampleConfig) (share, logp []float64) {
	const n = 20000
	share, logp = make([]float64, len(logits)), make([]float64, len(logits))
	for i := range n {
		tok, lp := policy.Draw(logits, cfg, (float64(i)+0.5)/n)
		share[tok] += 1.0 / n
		logp[tok] = float64(lp)
	}
	return share, logp
}

// TestDrawMatchesItsLogProbability is P10: what is reported is the logarithm
// of how often the token is drawn, whatever temperature and truncation.
func TestDrawMatchesItsLogProbability(t *testing.T) {
	logits := []float32{0.3, 2, -1, 2, 0.9, float32(math.Inf(-1)), -2}
	for _, c := range []struct {
		cfg  policy.SampleConfig
		kept []bool
	}{
		{policy.SampleConfig{Temperature: 1}, []bool{true, true, true, true, true, false, true}},
		{policy.SampleConfig{Temperature: 0.5}, []bool{true, true, true, true, true, false, true}},
		{policy.SampleConfig{Temperature: 2}, []bool{true, true, true, true, true, false, true}},
		{policy.SampleConfig{}, []bool{false, true, false, false, false, false, false}},
		{policy.SampleConfig{Temperature: 1, TopK: 1}, []bool{false, true, false, false, false, false, false}},
		{policy.SampleConfig{Temperature: 1, TopK: 3}, []bool{false, true, false, true, true, false, false}},
		{policy.SampleConfig{Temperature: 1, TopP: 0.6}, []bool{false, true, false, true, false, false, false}},
		{policy.SampleConfig{Temperature: 1, TopK: 99, TopP: 1}, []bool{true, true, true, true, true, false, true}},
	} {
		share, logp := shares(logits, c.cfg)
		for i, p := range share {
			if (p > 0) != c.kept[i] {
				t.Errorf("%+v: token %d drawn with %g", c.cfg, i, p)
			}
			if p > 0 && c.cfg.Temperature > 0 && math.Abs(math.Exp(logp[i])-p) > 1e-4 {
				t.Errorf("%+v: token %d drawn with %g, reported %g", c.cfg, i, p, math.Exp(logp[i]))
			}
		}
	}
	var sum float64
	for _, v := range logits {
		sum += math.Exp(float64(v))
	}
	if _, lp := policy.Draw(logits, policy.SampleConfig{}, 0); math.Abs(float64(lp)-(2-math.Log(sum))) > 1e-6 {
		t.Errorf("a greedy choice reports %g, not its log-probability at temperature 1", lp)
	}
}

// TestStreams checks that draws are uniform and that each word of the key and
// the number of the draw matter.
func TestStreams(t *testing.T) {
	const n = 40000
	var sum, squares, lag float64
	last := 0.5
	for i := range uint64(n) {
		u := policy.Uniform(policy.StreamKey{Seed: 1}, i)
		if u < 0 || u >= 1 {
			t.Fatalf("draw %g", u)
		}
		sum, squares, lag = sum+u, squares+u*u, lag+(u-0.5)*(last-0.5)
		last = u
	}
	if math.Abs(sum/n-0.5) > 0.01 || math.Abs(squares/n-1.0/3) > 0.01 || math.Abs(lag/n) > 0.003 {
		t.Errorf("mean %g, second moment %g, covariance of neighbours %g", sum/n, squares/n, lag/n)
	}
	seen := map[float64]policy.StreamKey{}
	for i := range uint64(4 * 4 * 4 * 4) {
		k := policy.StreamKey{Seed: i & 3, Update: i >> 2 & 3, Task: i >> 4 & 3, Member: i >> 6}
		u := policy.Uniform(k, 0)
		if other, dup := seen[u]; dup {
			t.Errorf("%+v and %+v share a stream", k, other)
		}
		seen[u] = k
	}
}

// TestDrawAcrossBlocks compares the draw, which adds up blocks of weights, with
// a search through the cumulative distribution, and sees that what has no
// probability is never drawn, wherever it stands.
func TestDrawAcrossBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{1, 31, 32, 33, 64, 150, 512} {
		logits := make([]float32, n)
		for i := range logits {
			logits[i] = float32(rng.NormFloat64())
			if i != n/2 && (rng.IntN(4) == 0 || i >= n-40) {
				logits[i] = float32(math.Inf(-1))
			}
		}
		var total float64
		for _, v := range logits {
			total += math.Exp(float64(v))
		}
		for range 2000 {
			u := rng.Float64()
			if rng.IntN(50) == 0 {
				u = 1 - 0x1p-53
			}
			tok, _ := policy.Draw(logits, policy.SampleConfig{Temperature: 1}, u)
			if math.IsInf(float64(logits[tok]), -1) {
				t.Fatalf("%d tokens, %g: token %d has no probability", n, u, tok)
			}
			var below float64
			for _, v := range logits[:tok] {
				below += math.Exp(float64(v))
			}
			const tol = 1e-6
			if up := below + math.Exp(float64(logits[tok])); u < below/total-tol || u > up/total+tol {
				t.Fatalf("%d tokens: %g gave token %d, which has [%g,%g]", n, u, tok, below/total, up/total)
			}
		}
	}
}
