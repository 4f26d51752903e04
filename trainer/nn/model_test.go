package nn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/proctor-rl/proctor/trainer/nn"
)

func tiny() nn.Config {
	return nn.Config{Vocab: 11, Context: 16, Dim: 8, Layers: 2, Heads: 2, FF: 12, Smear: true, Mimetic: true}
}

// variants are the configurations every property of the whole model is checked for.
func variants() map[string]nn.Config {
	plain := tiny()
	plain.Smear, plain.Mimetic, plain.RopeDim = false, false, -1
	grouped := tiny()
	grouped.KVHeads, grouped.Activation = 1, "swiglu"
	full := tiny()
	full.Mimetic, full.RopeDim = false, 4
	gpt2 := nn.Config{Vocab: 11, Context: 16, Dim: 8, Layers: 2, Heads: 2, FF: 12, Norm: "layer", Positions: "learned", Bias: true}
	return map[string]nn.Config{"gpt2": gpt2, "mimetic": tiny(), "plain": plain, "grouped-swiglu": grouped, "full-rope": full}
}

// packed is a random batch of three sequences with about half of the tokens wanted.
func packed(rng *rand.Rand, vocab int) (tokens, starts []int32, need []bool) {
	starts = []int32{0, 5, 6, 13}
	for range 13 {
		tokens = append(tokens, int32(rng.IntN(vocab)))
		need = append(need, rng.IntN(2) == 0)
	}
	need[12], need[0], need[5] = true, true, true
	return tokens, starts, need
}

// TestModelGradient compares the gradient of a random combination of
// log-probabilities and entropies with central differences, parameter by
// parameter, in float64 (D7).
func TestModelGradient(t *testing.T) {
	for name, cfg := range variants() {
		// Sequences of their own, two after a common beginning, and a line of
		// three, of which the second is a single token.
		for _, after := range [][]int32{nil, {-1, 0, 0}, {-1, 0, 1}} {
			t.Run(fmt.Sprintf("%s/after=%v", name, after), func(t *testing.T) {
				const invT = 1.25
				rng := rand.New(rand.NewPCG(1, 2))
				m := nn.NewModel[float64](cfg, 3)
				for i := range m.Params() {
					m.Params()[i] += 0.05 * rng.NormFloat64()
				}
				tokens, starts, need := packed(rng, cfg.Vocab)
				n := len(tokens)
				dl, de := make([]float64, n), make([]float64, n)
				for i := range n {
					dl[i], de[i] = rng.NormFloat64(), rng.NormFloat64()
				}
				var w nn.Workspace[float64]
				lp, ent := make([]float64, n), make([]float64, n)
				loss := func() (s float64) {
					m.Forward(&w, m.NewPacked(true), tokens, starts, after, need)
					m.LogProbs(&w, invT, lp, ent)
					for i := range n {
						s += dl[i]*lp[i] + de[i]*ent[i]
					}
					return s
				}
				loss()
				grads := make([]float64, len(m.Params()))
				m.Backward(&w, invT, dl, de, grads)
				const h = 3e-6
				for _, s := range m.Spans() {
					var num, den float64
					for i := s.Lo; i < s.Hi; i++ {
						p := m.Params()[i]
						m.Params()[i] = p + h
						up := loss()
						m.Params()[i] = p - h
						d := (up - loss()) / (2 * h)
						m.Params()[i] = p
						num += (d - grads[i]) * (d - grads[i])
						den += d * d
					}
					if rel := math.Sqrt(num / (den + 1e-12)); !(rel < 1e-6) {
						t.Errorf("%s: gradient off by %.2g of %.3g", s.Name, rel, math.Sqrt(den))
					}
				}
			})
		}
	}
}

// TestSharedBeginning compares sequences that go on after common beginnings
// with the same sequences each by itself: log-probabilities bit for bit, and
// the gradient, which is added up in another order, closely.
func TestSharedBeginning(t *testing.T) {
	for name, cfg := range variants() {
		cfg.Context, cfg.Dim, cfg.FF = 160, 32, 48
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				compareShared(t, nn.NewModel[float32](cfg, 5), rand.New(rand.NewPCG(seed, 8)))
			}
		})
	}
}

func compareShared(t *testing.T, m *nn.Model[float32], rng *rand.Rand) {
	t.Helper()
	cfg, p := m.Config(), m.NewPacked(true)
	var shared, alone sequences
	var lines [][]int32 // the tokens of every sequence from its very beginning
	for s := range 2 + rng.IntN(6) {
		after := int32(rng.IntN(s+1)) - 1
		if after >= 0 && len(lines[after]) > 100 {
			after = -1
		}
		var line []int32
		if after >= 0 {
			line = append(line, lines[after]...)
		}
		before := len(line)
		for range 1 + rng.IntN(50)>>rng.IntN(5) {
			line = append(line, int32(rng.IntN(cfg.Vocab)))
		}
		lines = append(lines, line)
		need, weight := make([]bool, len(line)), make([]float32, len(line))
		for i := before + 1; i < len(line); i++ {
			need[i], weight[i] = rng.IntN(3) > 0, float32(rng.NormFloat64())
		}
		shared.add(line[before:], need[before:], weight[before:])
		shared.after = append(shared.after, after)
		alone.add(line, need, weight)
	}
	lp, grads := shared.run(m, p)
	lpAlone, gradsAlone := alone.run(m, p)
	for s, line := range lines {
		a, b := lp[shared.starts[s]:shared.starts[s+1]], lpAlone[alone.starts[s]:alone.starts[s+1]]
		for i, v := range a {
			if w := b[len(line)-len(a)+i]; v != w {
				t.Fatalf("sequence %d, token %d of %d: %g after a shared beginning, %g alone", s, i, len(a), v, w)
			}
		}
	}
	for _, s := range m.Spans() {
		var diff, norm float64
		for i := s.Lo; i < s.Hi; i++ {
			d := float64(grads[i]) - float64(gradsAlone[i])
			diff += d * d
			norm += float64(gradsAlone[i]) * float64(gradsAlone[i])
		}
		if diff > 1e-10*norm+1e-14 {
			t.Errorf("%s: gradients differ by %.2g of %.2g", s.Name, math.Sqrt(diff), math.Sqrt(norm))
		}
	}
}

// sequences is a batch and the weights of its log-probabilities in a loss.
type sequences struct {
	tokens, starts, after []int32
	need                  []bool
	weight                []float32
}

func (b *sequences) add(tokens []int32, need []bool, weight []float32) {
	if b.starts == nil {
		b.starts = []int32{0}
	}
	b.tokens, b.need, b.weight = append(b.tokens, tokens...), append(b.need, need...), append(b.weight, weight...)
	b.starts = append(b.starts, int32(len(b.tokens)))
}

func (b *sequences) run(m *nn.Model[float32], p *nn.Packed[float32]) (logp, grads []float32) {
	var w nn.Workspace[float32]
	n := len(b.tokens)
	logp, entropy, grads := make([]float32, n), make([]float32, n), make([]float32, len(m.Params()))
	m.Forward(&w, p, b.tokens, b.starts, b.after, b.need)
	m.LogProbs(&w, 1, logp, entropy)
	m.Backward(&w, 1, b.weight, make([]float32, n), grads)
	return logp, grads
}
