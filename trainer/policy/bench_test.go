package policy_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/proctor-rl/proctor/trainer/policy"
)

// recipeConfig is the model of the react recipe: 384 thousand parameters.
func recipeConfig() policy.TransformerConfig {
	return policy.TransformerConfig{Vocab: 512, Context: 384, Dim: 96, Layers: 3, Heads: 3, Smear: true, Mimetic: true}
}

// cpuSeconds is the processor time of this process: what to compare by on a
// machine that others use too.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkTrain is a forward and backward pass over sequences of about 130
// tokens, two in three of them wanted, as many as a supervised or a group
// update sees at once.
func BenchmarkTrain(b *testing.B) {
	for _, seqs := range []int{8, 96} {
		b.Run(fmt.Sprintf("sequences=%d", seqs), func(b *testing.B) {
			p := policy.NewTransformer(recipeConfig(), 1)
			rng := rand.New(rand.NewPCG(1, 1))
			var all [][]int32
			for range seqs {
				all = append(all, randomTokens(rng, 80+rng.IntN(101), 512))
			}
			batch := batchOf(all...)
			for i := range batch.Need {
				batch.Need[i] = batch.Need[i] && i%3 > 0
			}
			set := nll(batch)
			p.Accumulate(batch, set)
			b.ReportAllocs()
			cpu := cpuSeconds()
			for b.Loop() {
				p.Accumulate(batch, set)
			}
			b.ReportMetric(float64(len(batch.Tokens)*b.N)/b.Elapsed().Seconds(), "tokens/s")
			b.ReportMetric(float64(len(batch.Tokens)*b.N)/(cpuSeconds()-cpu), "tokens/cpu-s")
		})
	}
}

// BenchmarkSample plays 192 episodes at once, in groups of 8 with one prompt of
// 40 tokens: three turns of 22 sampled tokens, with observations of 12 tokens
// between them.
func BenchmarkSample(b *testing.B) {
	p := policy.NewTransformer(recipeConfig(), 1)
	s := p.NewSampler(192)
	run := func(update uint64) (sampled int) {
		rng := rand.New(rand.NewPCG(1, update))
		var turn [192]int
		var prompt []int32
		for i := range 192 {
			if i%8 == 0 {
				prompt = randomTokens(rng, 40, 512)
			}
			id := s.Begin(policy.StreamKey{Update: update, Member: uint64(i)}, policy.SampleConfig{Temperature: 1}, prompt)
			s.Want(id, 12+rng.IntN(21), nil)
		}
		for live := 192; live > 0; {
			for _, id := range s.Step() {
				tok, _ := s.Sampled(id)
				sampled += len(tok)
				if turn[id]++; turn[id] == 3 {
					s.End(id)
					live--
					continue
				}
				s.Extend(id, randomTokens(rng, 12, 512))
				s.Want(id, 12+rng.IntN(21), nil)
			}
		}
		s.Refresh()
		return sampled
	}
	run(0)
	sampled, fed, cpu := 0, policy.RowsFed(s), cpuSeconds()
	for b.Loop() {
		sampled += run(uint64(b.N))
	}
	b.ReportMetric(float64(sampled)/b.Elapsed().Seconds(), "sampled/s")
	b.ReportMetric(float64(policy.RowsFed(s)-fed)/b.Elapsed().Seconds(), "tokens/s")
	b.ReportMetric(float64(policy.RowsFed(s)-fed)/(cpuSeconds()-cpu), "tokens/cpu-s")
}
