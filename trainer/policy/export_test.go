package policy

// SetRowLimit makes s feed at most rows tokens a step.
func SetRowLimit(s Sampler, rows int) { s.(*sampler).rowLimit = rows }

// SetFar makes s take its weights for larger than the caches.
func SetFar(s Sampler) { s.(*sampler).near = false }

// RowsFed is the number of tokens that s has fed.
func RowsFed(s Sampler) int { return s.(*sampler).fed }

// Draw draws one token from logits.
func Draw(logits []float32, cfg SampleConfig, u float64) (int32, float32) {
	return new(drawer).draw(logits, cfg, u)
}

// Uniform is draw n of the stream of k.
func Uniform(k StreamKey, n uint64) float64 { return newStream(k).uniform(n) }

// Computed is the number of tokens that are computed for b if it is run at once.
func Computed(b *Batch) int {
	var t tree
	t.build(b, 0, len(b.Starts)-1)
	return len(t.tokens)
}

// ComputedBy is the number of tokens that t computes for b, cut as it cuts it.
func ComputedBy(t *Transformer, b *Batch) (n int) {
	t.cut(b)
	var r tree
	for _, c := range t.chunks {
		r.build(b, c.seqLo, c.seqHi)
		n += len(r.tokens)
	}
	return n
}
