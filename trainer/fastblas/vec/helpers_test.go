package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

const canary = float32(-12345.5)

// lengths are the edges of the kernels' turns, and one long slice.
var lengths = []int{0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 63, 64, 65, 100, 255, 256, 257, 1000, 100003}

// special are the values that an elementwise kernel meets in the worst run.
var special = []float32{
	0, float32(math.Copysign(0, -1)), 1, -1, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)),
	math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 1e-40, -1e-40, math.MaxFloat32, -math.MaxFloat32,
	88.72, 88.73, 89, -87.4, -100, -103.9, -104.1, 30, -30, 1e20, -1e20,
}

// guarded is a slice inside a larger one whose other elements are canaries.
type guarded struct {
	all   []float32
	lo, n int
}

func newGuarded(rng *rand.Rand, n int) *guarded {
	g := &guarded{lo: 16 + rng.IntN(9), n: n} // any alignment
	g.all = make([]float32, g.lo+n+16)
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

// random returns n normal numbers, and special ones among them where asked.
func random(rng *rand.Rand, n int, mixed bool) []float32 {
	g := newGuarded(rng, n)
	x := g.slice()
	for i := range x {
		x[i] = float32(rng.NormFloat64() * math.Exp(rng.NormFloat64()))
		if mixed && rng.IntN(4) == 0 {
			x[i] = special[rng.IntN(len(special))]
		}
	}
	return x
}

func clone(x []float32) []float32 { return append([]float32(nil), x...) }

// near reports whether got is want within rel of it and abs beside, NaN and
// infinities being equal to themselves. A want beyond float32 is infinite.
func near(got float32, want, rel, abs float64) bool {
	w, g := want, float64(got)
	if math.IsNaN(w) || math.IsNaN(g) {
		return math.IsNaN(w) == math.IsNaN(g)
	}
	if f := float64(float32(w)); math.IsInf(f, 0) || math.IsInf(g, 0) {
		edge := math.Abs(w) > math.MaxFloat32*(1-rel) // either side of the largest number
		return f == g || edge && (math.IsInf(g, 0) || math.Abs(g) > math.MaxFloat32*(1-2*rel)) && math.Signbit(f) == math.Signbit(g)
	}
	return math.Abs(g-w) <= rel*math.Abs(w)+abs
}

func expect(t *testing.T, what string, i int, got float32, want, rel, abs float64) {
	t.Helper()
	if !near(got, want, rel, abs) {
		t.Fatalf("%s: element %d is %v, want %v", what, i, got, want)
	}
}
