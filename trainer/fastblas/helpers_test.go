package fastblas

import (
	"math"
	"math/rand/v2"
	"testing"
)

// canary fills the space around a matrix that nothing may touch.
const canary = float32(-12345.5)

// guarded is a slice inside a larger one whose every other element is a canary.
type guarded struct {
	all []float32
	lo  int
	n   int
}

func newGuarded(rng *rand.Rand, n int) *guarded {
	g := &guarded{lo: 16 + rng.IntN(9), n: n} // any alignment
	g.all = make([]float32, g.lo+n+32)
	for i := range g.all {
		g.all[i] = canary
	}
	return g
}

func (g *guarded) slice() []float32 { return g.all[g.lo : g.lo+g.n : g.lo+g.n] }

func (g *guarded) check(t *testing.T, what string) {
	t.Helper()
	for i, v := range g.all {
		if (i < g.lo || i >= g.lo+g.n) && v != canary {
			t.Fatalf("%s: element %d outside was overwritten with %v", what, i-g.lo, v)
		}
	}
}

// matrix returns r rows of c random elements that are ld apart, with canaries
// in the gaps and around.
func matrix(rng *rand.Rand, r, c, ld int) *guarded {
	n := 0
	if r > 0 && c > 0 {
		n = (r-1)*ld + c
	}
	g := newGuarded(rng, n)
	x := g.slice()
	for i := range r {
		for j := range c {
			x[i*ld+j] = float32(rng.NormFloat64())
		}
	}
	return g
}

// gaps reports an overwritten gap between the rows of a matrix.
func (g *guarded) gaps(t *testing.T, what string, r, c, ld int) {
	t.Helper()
	g.check(t, what)
	x := g.slice()
	for i := range max(0, r-1) {
		for j := c; j < ld; j++ {
			if x[i*ld+j] != canary {
				t.Fatalf("%s: gap after row %d was overwritten", what, i)
			}
		}
	}
}

// bothKernels runs f with the assembly and with the Go kernels.
func bothKernels(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	for _, name := range kernelNames() {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(useKernels(name))
			f(t)
		})
	}
}

func equalBits(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
