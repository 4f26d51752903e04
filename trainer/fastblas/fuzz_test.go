package fastblas

import (
	"math"
	"math/rand/v2"
	"testing"
)

// extremes are the values that a fuzzed matrix gets for one of its modes.
var extremes = [][]float32{
	nil,
	{1e-30, -1e-30, 1e-38},
	{1e-40, math.SmallestNonzeroFloat32, -1e-41},
	{1e17, -1e17, 3e16},
	{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0},
	{0, float32(math.Copysign(0, -1))},
}

// sprinkle replaces about one in density of the elements of a matrix.
func sprinkle(rng *rand.Rand, x []float32, r, c, ld int, values []float32, density int) {
	if len(values) == 0 {
		return
	}
	for i := range r {
		for j := range c {
			if rng.IntN(density) == 0 {
				x[i*ld+j] = values[rng.IntN(len(values))]
			}
		}
	}
}

// agrees compares with the plain float64 sum: what is infinite or not a number
// there must be here, the rest is near.
func agrees(got float32, want, size float64, k int) bool {
	if math.IsNaN(want) {
		return got != got
	}
	if math.IsInf(want, 0) {
		return float64(got) == want
	}
	return math.Abs(float64(got)-want) <= 6e-8*(size+math.Abs(want))*float64(min(k, 256)+4)/2+float64(k+1)*3e-45
}

// FuzzProducts multiplies matrices of any shape, stride, place and kind of
// number in all ways that there are and compares them with the plain float64
// loop and, bit for bit, with each other.
func FuzzProducts(f *testing.F) {
	f.Add(uint64(1), uint8(6), uint8(16), uint16(8), uint8(0), uint8(3))
	f.Add(uint64(2), uint8(1), uint8(64), uint16(257), uint8(1), uint8(9))
	f.Add(uint64(3), uint8(50), uint8(33), uint16(40), uint8(2), uint8(1))
	f.Add(uint64(4), uint8(13), uint8(70), uint16(300), uint8(3), uint8(2))
	f.Add(uint64(5), uint8(31), uint8(17), uint16(64), uint8(4), uint8(40))
	f.Add(uint64(6), uint8(7), uint8(7), uint16(7), uint8(5), uint8(1))
	f.Fuzz(func(t *testing.T, seed uint64, rows, cols uint8, inner uint16, mode, density uint8) {
		m, n, k := 1+int(rows)%80, 1+int(cols)%80, 1+int(inner)%520
		for _, name := range kernelNames() {
			restore := useKernels(name)
			fuzzProduct(t, rand.New(rand.NewPCG(seed, 1)), m, n, k, extremes[int(mode)%len(extremes)], 1+int(density))
			restore()
		}
	})
}

func fuzzProduct(t *testing.T, rng *rand.Rand, m, n, k int, values []float32, density int) {
	p := newProblem(rng, m, n, k)
	ra, ca, rb, cb := m, k, k, n
	if p.ta {
		ra, ca = k, m
	}
	if p.tb {
		rb, cb = n, k
	}
	sprinkle(rng, p.a.slice(), ra, ca, p.lda, values, density)
	sprinkle(rng, p.b.slice(), rb, cb, p.ldb, values, density)
	a, b, c := p.a.slice(), p.b.slice(), p.c.slice()
	add := rng.IntN(2) == 0
	before := append([]float32(nil), c...)
	Gemm(c, p.ldc, p.ta, a, p.lda, p.tb, b, p.ldb, m, n, k, 1, Epilogue{Accumulate: add}, nil)
	p.a.gaps(t, "a", ra, ca, p.lda)
	p.b.gaps(t, "b", rb, cb, p.ldb)
	p.c.gaps(t, p.String(), m, n, p.ldc)
	for i := range m {
		for j := range n {
			want, size := p.element(i, j)
			if add {
				want += float64(before[i*p.ldc+j])
			}
			if got := c[i*p.ldc+j]; !agrees(got, want, size, k) {
				t.Fatalf("%v: c[%d,%d] = %v, want %v", p, i, j, got, want)
			}
		}
	}
	same := func(what string, got []float32, ld int) {
		for i := range m {
			for j := range n {
				if v, w := got[i*ld+j], c[i*p.ldc+j]; !equalBits(v, w) && (v == v || w == w) {
					t.Fatalf("%v, %s: c[%d,%d] = %v, Gemm has %v", p, what, i, j, v, w)
				}
			}
		}
	}
	packed, panels := NewPacked(k, n), newGuarded(rng, roundUp(n)*k)
	if p.tb {
		packed.PackTrans(b, p.ldb)
		PackPanelsTrans(panels.slice(), b, p.ldb, k, n)
	} else {
		packed.Pack(b, p.ldb)
		PackPanels(panels.slice(), b, p.ldb, k, n)
	}
	panels.check(t, "panels")
	if !p.ta {
		d := append([]float32(nil), before...)
		GemmPacked(d, p.ldc, a, p.lda, packed, m, Epilogue{Accumulate: add}, nil)
		same("packed", d, p.ldc)
	}
	if k <= kcMax {
		rsA, csA := p.lda, 1
		if p.ta {
			rsA, csA = 1, p.lda
		}
		d := append([]float32(nil), before...)
		GemmPanels(d, p.ldc, a, rsA, csA, panels.slice(), k*PanelWidth, m, n, k, add)
		same("panels", d, p.ldc)
	}
}
