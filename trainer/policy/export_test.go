package policy

// SetRowLimit makes s feed at most rows tokens a step.
func SetRowLimit(s Sampler, rows int) { s.(*sampler).rowLimit = rows }

// RowsFed is the number of tokens that s has fed.
func RowsFed(s Sampler) int { return s.(*sampler).fed }

// Draw draws one token from logits.
func Draw(logits []float32, cfg SampleConfig, u float64) (int32, float32) {
	return new(drawer).draw(logits, cfg, u)
}

// Uniform is draw n of the stream of k.
func Uniform(k StreamKey, n uint64) float64 { return newStream(k).uniform(n) }
