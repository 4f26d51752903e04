package policy_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/proctor-rl/proctor/trainer/fastblas/vec"
	"github.com/proctor-rl/proctor/trainer/policy"
)

// stepSizes are the sizes at which docs/benchmarks/numerics.md measures.
var stepSizes = []policy.TransformerConfig{
	{Vocab: 512, Context: 256, Dim: 128, Layers: 4, Heads: 4},
	{Vocab: 512, Context: 256, Dim: 256, Layers: 4, Heads: 4},
	{Vocab: 512, Context: 256, Dim: 384, Layers: 6, Heads: 6},
}

// BenchmarkStep is a training step on 4,096 tokens, 16 sequences of 256:
// forward, backward and AdamW. GF/s counts the products and the causal half of
// attention, three times the forward pass.
func BenchmarkStep(b *testing.B) {
	for _, cfg := range append(stepSizes, policy.TransformerConfig{Vocab: 512, Context: 256, Dim: 96, Layers: 3, Heads: 3, Smear: true, Mimetic: true}) {
		for _, procs := range []int{1, 2} {
			b.Run(fmt.Sprintf("d%dL%d/procs%d", cfg.Dim, cfg.Layers, procs), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				t := policy.NewTransformer(cfg, 1)
				rng := rand.New(rand.NewPCG(1, 1))
				const n, T = 4096, 256
				batch := &policy.Batch{
					Tokens: make([]int32, n), Need: make([]bool, n), LogP: make([]float32, n), Entropy: make([]float32, n),
					DLogP: make([]float32, n), DEntropy: make([]float32, n),
				}
				for i := range n {
					if i%T == 0 {
						batch.Starts = append(batch.Starts, int32(i))
					}
					batch.Tokens[i], batch.Need[i] = int32(rng.IntN(cfg.Vocab)), i%T != 0
				}
				batch.Starts = append(batch.Starts, n)
				m, v := make([]float32, len(t.Params())), make([]float32, len(t.Params()))
				step := func() {
					clear(t.Grads())
					t.Accumulate(batch, func(lo, hi int) {
						for i := lo; i < hi; i++ {
							batch.DLogP[i] = -1.0 / n
						}
					})
					vec.AdamW{LR: 1e-4, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, WeightDecay: 0.01}.Step(t.Params(), t.Grads(), m, v, 1, 1)
				}
				step()
				b.ReportAllocs()
				cpu := cpuSeconds()
				for b.Loop() {
					step()
				}
				cpu = (cpuSeconds() - cpu) / float64(b.N)
				d, L, V := float64(cfg.Dim), float64(cfg.Layers), float64(cfg.Vocab)
				flop := 3 * n * (2*(12*d*d*L+V*d) + 2*L*T*d)
				sec := b.Elapsed().Seconds() / float64(b.N)
				b.ReportMetric(n/sec, "tok/s")
				b.ReportMetric(flop/sec/1e9, "GF/s")
				b.ReportMetric(flop/cpu/1e9, "GF/cpu-s")
			})
		}
	}
}
