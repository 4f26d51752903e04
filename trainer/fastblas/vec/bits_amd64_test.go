//go:build amd64 && !purego

package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAVX512HasTheBitsOfAVX2 runs every function on slices of all lengths, with
// special values and without, with both kinds of assembly. Even a NaN has the
// same bits.
func TestAVX512HasTheBitsOfAVX2(t *testing.T) {
	if !avx512 {
		t.Skip("this machine has no AVX-512; tools/avx512.sh runs the test in an emulator")
	}
	lengths := append([]int{250, 1000, 4099}, lengths[:20]...)
	for n := range 140 {
		lengths = append(lengths, n)
	}
	for i, n := range lengths {
		for _, mixed := range []bool{false, true} {
			seed := uint64(i)
			run := func() []result {
				rng := rand.New(rand.NewPCG(seed, 1))
				in := func() []float32 {
					x := random(rng, n, mixed)
					for i := range x {
						if mixed && rng.IntN(20) == 0 { // a NaN that is not the usual one
							x[i] = math.Float32frombits([]uint32{0x7fc00001, 0xffc12345}[rng.IntN(2)])
						}
					}
					return x
				}
				return everything(in, n, rng.IntN(max(1, n)))
			}
			wide := run()
			t.Run("", func(t *testing.T) {
				withoutAVX512(t)
				for j, v := range run() {
					if w := wide[j]; v.bits != w.bits {
						t.Fatalf("%d elements, special %v: %s has %x with AVX2 and %x with AVX-512", n, mixed, v.of, v.bits, w.bits)
					}
				}
			})
		}
	}
}
