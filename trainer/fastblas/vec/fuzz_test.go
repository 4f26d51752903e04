package vec

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// floats reads raw as float32 of any bit pattern, n of them, at any alignment.
// Tame ones are finite and not large.
func floats(rng *rand.Rand, raw []byte, n int, tame bool) []float32 {
	x := newGuarded(rng, n).slice()
	for i := range x {
		at := 4 * rng.IntN(max(len(raw)/4, 1))
		if at+4 <= len(raw) {
			x[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[at:]))
		}
		if a := math.Abs(float64(x[i])); tame && !(a < 1e3) {
			x[i] = float32(rng.NormFloat64())
		}
	}
	return x
}

func addSeeds(f *testing.F) {
	f.Helper()
	var raw []byte
	for _, v := range special {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	for i := range uint8(12) {
		f.Add(uint64(i), i, uint16(3*i+5), raw)
	}
}

// FuzzElementwise runs every kernel without a reduction on numbers of any bit
// pattern against its formula in float64.
func FuzzElementwise(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, which uint8, length uint16, raw []byte) {
		k := elementwise[int(which)%len(elementwise)]
		n := int(length) % 300
		bothKernels(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			dst := newGuarded(rng, n)
			copy(dst.slice(), floats(rng, raw, n, k.tame))
			in := [][]float32{clone(dst.slice())}
			for range k.inputs {
				in = append(in, floats(rng, raw, n, k.tame))
			}
			k.run(dst.slice(), in[1:])
			dst.check(t, k.name)
			for i, got := range dst.slice() {
				at := make([]float64, len(in))
				for j := range in {
					at[j] = float64(in[j][i])
				}
				if w := k.want(at); !near(got, w, k.rel, k.abs*(1+math.Abs(at[1]))) {
					t.Fatalf("%v of %v at %d of %d: got %v, want %v", k.name, at, i, n, got, w)
				}
			}
		})
	})
}

// FuzzRows runs the reductions and the softmax on numbers of any size against
// float64.
func FuzzRows(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, which uint8, length uint16, raw []byte) {
		n := 1 + int(length)%300
		bothKernels(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			x, y := floats(rng, raw, n, true), floats(rng, raw, n, true)
			var sum, size, dot, dsize float64
			for i, v := range x {
				sum += float64(v)
				size += math.Abs(float64(v))
				dot += float64(v) * float64(y[i])
				dsize += math.Abs(float64(v) * float64(y[i]))
			}
			expect(t, "Sum", n, Sum(x), sum, 0, sumTolerance(n, size))
			expect(t, "Dot", n, Dot(x, y), dot, 0, sumTolerance(n, dsize))

			// A scale that keeps the arguments of the exponential as exact as
			// they can be.
			scale := 0.7 / (1 + math.Abs(float64(Max(x))) + size/float64(n)/10)
			scale = float64(float32(scale))
			out := newGuarded(rng, n)
			Softmax(out.slice(), x, float32(scale))
			out.check(t, "Softmax")
			for i, w := range softmax64(x, scale) {
				expect(t, "Softmax", i, out.slice()[i], w, 4e-5, 1e-38)
			}
			target := int(which) % n
			r := LogProb(x, float32(scale), target)
			logp, entropy := logProb64(widen(x), scale, target)
			expect(t, "LogProb", target, r.LogP, logp, 1e-5, 4e-5)
			expect(t, "Entropy", target, r.Entropy, entropy, 1e-5, 1e-4)
		})
	})
}
