package policy_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/proctor-rl/proctor/trainer/fastblas"
	"github.com/proctor-rl/proctor/trainer/policy"
)

// TestCopyBatch checks that the wanted tokens, and only they, are determined
// by what came before.
func TestCopyBatch(t *testing.T) {
	b := policy.CopyBatch(500, 16, 1, 2)
	if !reflect.DeepEqual(b, policy.CopyBatch(500, 16, 1, 2)) || reflect.DeepEqual(b.Tokens, policy.CopyBatch(500, 16, 1, 3).Tokens) {
		t.Error("a batch must depend on seed and step")
	}
	wanted := 0
	for s := range 16 {
		lo, hi := int(b.Starts[s]), int(b.Starts[s+1])
		for i := lo; i < hi; i++ {
			if b.Tokens[i] < 2 || b.Tokens[i] >= 500 {
				t.Fatalf("token %d", b.Tokens[i])
			}
			if !b.Need[i] {
				continue
			}
			wanted++
			found := false
			for j := lo + 1; j < lo+20; j++ {
				found = found || b.Tokens[j] == b.Tokens[i] && b.Tokens[j-1] == b.Tokens[i-1]
			}
			if !found {
				t.Errorf("sequence %d: token %d is wanted but not a repetition", s, i-lo)
			}
		}
	}
	if wanted < 16*3*3 || wanted > 16*3*7 {
		t.Errorf("%d tokens wanted", wanted)
	}
}

// copyLoss trains a model of two layers on copy batches for some 70 thousand
// tokens with Adam and returns the mean loss of the last five batches.
func copyLoss(cfg policy.TransformerConfig, seed uint64) float64 {
	p := policy.NewTransformer(cfg, seed)
	const steps, rate, beta1, beta2 = 100, 3e-3, 0.9, 0.98
	m, v := make([]float64, len(p.Params())), make([]float64, len(p.Params()))
	last := 0.0
	for step := range steps {
		b := policy.CopyBatch(cfg.Vocab, 16, seed, uint64(step))
		clear(p.Grads())
		p.Accumulate(b, nll(b))
		loss, n, norm := 0.0, 0, 0.0
		for i, need := range b.Need {
			if need {
				loss -= float64(b.LogP[i])
				n++
			}
		}
		for _, g := range p.Grads() {
			norm += float64(g) * float64(g)
		}
		clip := math.Min(1, 1/math.Sqrt(norm))
		lr := rate * math.Min(1, float64(step+1)/40)
		c1, c2 := 1-math.Pow(beta1, float64(step+1)), 1-math.Pow(beta2, float64(step+1))
		for i, g := range p.Grads() {
			d := float64(g) * clip
			m[i] += (1 - beta1) * (d - m[i])
			v[i] += (1 - beta2) * (d*d - v[i])
			p.Params()[i] -= float32(lr * (m[i] / c1) / (math.Sqrt(v[i]/c2) + 1e-8))
		}
		if step >= steps-5 {
			last += loss / float64(n) / 5
		}
	}
	return last
}

// TestCopyingIsLearned is the isolated copy test: with both initialisations
// random tokens (chance is ln 512 = 6.24) are copied after some 70 thousand
// tokens, without them not at all. The kernels in Go, ten times as slow, get a
// smaller task (chance is ln 128 = 4.85).
func TestCopyingIsLearned(t *testing.T) {
	cfg := policy.TransformerConfig{Vocab: 512, Context: 64, Dim: 64, Layers: 2, Heads: 2, Smear: true, Mimetic: true}
	learned, chance := 0.7, 5.0
	if fastblas.Kernels() == "go" {
		cfg.Vocab, cfg.Dim = 128, 48
		learned, chance = 1.2, 4
	}
	loss := copyLoss(cfg, 1)
	t.Logf("loss %.3f", loss)
	if !(loss < learned) {
		t.Errorf("loss %.3f after the warm-up, want < %g", loss, learned)
	}
	cfg.Smear, cfg.Mimetic = false, false
	if plain := copyLoss(cfg, 1); !(plain > chance) {
		t.Errorf("loss %.3f without the initialisations: this test tests nothing", plain)
	}
}
