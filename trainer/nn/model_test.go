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
		for _, invT := range []float64{1, 1.25} {
			t.Run(fmt.Sprintf("%s/%g", name, invT), func(t *testing.T) {
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
					m.Forward(&w, m.NewPacked(true), tokens, starts, need)
					m.LogProbs(&w, invT, lp, ent)
					for i := range n {
						s += dl[i]*lp[i] + de[i]*ent[i]
					}
					return s
				}
				loss()
				grads := make([]float64, len(m.Params()))
				m.Backward(&w, invT, dl, de, grads)
				const h = 1e-5
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
