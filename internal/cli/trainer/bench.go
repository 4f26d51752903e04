package trainer

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/proctor-rl/proctor/trainer"
	"github.com/proctor-rl/proctor/trainer/policy"
)

// benchResult is what bench measures, in tokens per second.
type benchResult struct {
	Parameters int     `json:"parameters"`
	Sequences  int     `json:"sequences"`
	Length     int     `json:"length"`
	Learn      float64 `json:"learn_tokens_per_s"`
	LogProbs   float64 `json:"logprobs_tokens_per_s"`
	Sample     float64 `json:"sample_tokens_per_s"`
}

func bench(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := newFlags("bench", "Measures the policy of a recipe without a server: forward and backward, forward, and\nsampling with a KV cache.", "trainer bench --recipe recipes/react.yaml --seconds 5", stderr)
	recipe := f.String("recipe", "", "recipe file (YAML)")
	var set list
	f.Var(&set, "set", "change a key of the recipe; may be repeated")
	seconds := f.Float64("seconds", 5, "time for each measurement")
	sequences := f.Int("sequences", 64, "sequences in a batch")
	length := f.Int("length", 128, "tokens of a sequence")
	asJSON := f.Bool("json", false, "print JSON")
	if err := parse(f, args, stdout); err != nil {
		return err
	}
	if *recipe == "" {
		return usage("name a recipe with --recipe FILE")
	}
	cfg, err := trainer.ReadConfig(*recipe, set)
	if err != nil {
		return usageError{err}
	}
	if cfg.Policy.Kind != "transformer" {
		return usage("bench measures transformers; %s is an %s", *recipe, cfg.Policy.Kind)
	}
	if *sequences < 1 || *length < 2 || *length > cfg.Policy.Transformer.Context || *seconds <= 0 {
		return usage("need --sequences >= 1, 2 <= --length <= the context, --seconds > 0")
	}
	shape := cfg.Policy.Transformer
	shape.Vocab = cfg.Policy.Vocab
	p := policy.NewTransformer(shape, cfg.Seed)
	r := benchResult{Parameters: len(p.Params()), Sequences: *sequences, Length: *length}
	var tokens [][]int32
	var need [][]bool
	for s := range *sequences {
		t, n := make([]int32, *length), make([]bool, *length)
		for i := range t {
			t[i], n[i] = int32(2+(s*31+i*17)%(shape.Vocab-2)), i > 0 && i%2 == 0
		}
		tokens, need = append(tokens, t), append(need, n)
	}
	packs := policy.Pack(tokens, need, 8192, 1)
	limit := time.Duration(*seconds * float64(time.Second))
	measure := func(run func() int) float64 {
		run() // sizes the buffers
		n, start := 0, time.Now()
		for time.Since(start) < limit && ctx.Err() == nil {
			n += run()
		}
		return float64(n) / time.Since(start).Seconds()
	}
	r.Learn = measure(func() int {
		for _, b := range packs {
			p.Accumulate(&b.Batch, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					b.DLogP[i] = 1
				}
			})
		}
		clear(p.Grads())
		return *sequences * *length
	})
	r.LogProbs = measure(func() int {
		for _, b := range packs {
			p.LogProbs(&b.Batch)
		}
		return *sequences * *length
	})
	sampler := p.NewSampler(*sequences)
	r.Sample = measure(func() int {
		sampler.Refresh()
		for s := range *sequences {
			id := sampler.Begin(policy.StreamKey{Seed: cfg.Seed, Member: uint64(s)}, policy.SampleConfig{Temperature: 1}, tokens[s][:8])
			sampler.Want(id, *length-8, func([]int32) bool { return false })
		}
		for done := 0; done < *sequences; {
			done += len(sampler.Step())
		}
		return *sequences * *length
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	if *asJSON {
		return printJSON(stdout, r)
	}
	fmt.Fprintf(stdout, "%d parameters, %d sequences of %d tokens\n  forward and backward %8.0f tokens/s\n  forward              %8.0f tokens/s\n  sampling             %8.0f tokens/s\n",
		r.Parameters, r.Sequences, r.Length, r.Learn, r.LogProbs, r.Sample)
	return nil
}
