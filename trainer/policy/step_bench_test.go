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

// BenchmarkDecode samples 96 tokens after a prompt of 32 in every sequence, at
// batch 1 and 64, all prompts different. floor% is what the products of the
// model would take at peak, given in GF/s by hand, of the processor time.
func BenchmarkDecode(b *testing.B) {
	for _, cfg := range stepSizes {
		for _, seqs := range []int{1, 64} {
			for _, procs := range []int{1, 2} {
				b.Run(fmt.Sprintf("d%dL%d/batch%d/procs%d", cfg.Dim, cfg.Layers, seqs, procs), func(b *testing.B) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
					s := policy.NewTransformer(cfg, 1).NewSampler(seqs)
					rng := rand.New(rand.NewPCG(1, 1))
					n := 0
					run := func() {
						n++
						for i := range seqs {
							id := s.Begin(policy.StreamKey{Update: uint64(n), Member: uint64(i)}, policy.SampleConfig{Temperature: 1}, randomTokens(rng, 32, cfg.Vocab))
							s.Want(id, 96, nil)
						}
						for live := seqs; live > 0; {
							for _, id := range s.Step() {
								s.End(id)
								live--
							}
						}
						s.Refresh()
					}
					run()
					b.ReportAllocs()
					cpu := cpuSeconds()
					for b.Loop() {
						run()
					}
					cpu = (cpuSeconds() - cpu) / float64(b.N)
					d, L, V := float64(cfg.Dim), float64(cfg.Layers), float64(cfg.Vocab)
					var flop float64
					for t := range 128 {
						flop += float64(seqs) * (2*12*d*d*L + 4*L*d*float64(t+1))
						if t >= 31 {
							flop += float64(seqs) * 2 * V * d
						}
					}
					b.ReportMetric(float64(96*seqs*b.N)/b.Elapsed().Seconds(), "sampled/s")
					b.ReportMetric(float64(96*seqs)/cpu, "sampled/cpu-s")
					b.ReportMetric(flop/cpu/1e9, "GF/cpu-s")
				})
			}
		}
	}
}
