package policy

// stream is the key of a counter-based generator: draw n is a hash of the key
// and n, so any draw can be had without the ones before it.
type stream uint64

// newStream hashes all words of k; equal words in other places give other streams.
func newStream(k StreamKey) stream {
	h := mix64(k.Seed + 0x9e3779b97f4a7c15)
	h = mix64(h ^ (k.Update + 0xbf58476d1ce4e5b9))
	h = mix64(h ^ (k.Task + 0x94d049bb133111eb))
	h = mix64(h ^ (k.Member + 0xd6e8feb86659fd93))
	return stream(h)
}

// uniform is draw n, in [0,1).
func (s stream) uniform(n uint64) float64 {
	return float64(s.bits(n)>>11) * 0x1p-53
}

// bits is draw n: SplitMix64 started at s, read at place n.
func (s stream) bits(n uint64) uint64 {
	return mix64(uint64(s) + (n+1)*0x9e3779b97f4a7c15)
}

// mix64 is the finalizer of SplitMix64.
func mix64(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
