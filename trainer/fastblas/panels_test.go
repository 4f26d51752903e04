package fastblas

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestGemmPanels compares products with operands in panels with Gemm, bit for
// bit where Gemm has one block of the inner index only, and looks after the
// canaries.
func TestGemmPanels(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 7))
		for range 400 {
			m, n, k := 1+rng.IntN(60), 1+rng.IntN(70), 1+rng.IntN(300)
			ta, tb, add := rng.IntN(2) == 0, rng.IntN(2) == 0, rng.IntN(2) == 0
			ra, ca, rb, cb := m, k, k, n
			if ta {
				ra, ca = k, m
			}
			if tb {
				rb, cb = n, k
			}
			lda, ldb, ldc := ca+rng.IntN(9), cb+rng.IntN(9), n+rng.IntN(9)
			a, b, c := matrix(rng, ra, ca, lda), matrix(rng, rb, cb, ldb), matrix(rng, m, n, ldc)
			want := append([]float32(nil), c.slice()...)
			Gemm(want, ldc, ta, a.slice(), lda, tb, b.slice(), ldb, m, n, k, 1, Epilogue{Accumulate: add}, nil)

			panels := newGuarded(rng, roundUp(n)*k)
			if tb {
				PackPanelsTrans(panels.slice(), b.slice(), ldb, k, n)
			} else {
				PackPanels(panels.slice(), b.slice(), ldb, k, n)
			}
			panels.check(t, "packing")
			rsA, csA := lda, 1
			if ta {
				rsA, csA = 1, lda
			}
			GemmPanels(c.slice(), ldc, a.slice(), rsA, csA, panels.slice(), k*PanelWidth, m, n, k, add)
			c.gaps(t, "GemmPanels", m, n, ldc)
			for i := range m {
				for j := range n {
					got, w := c.slice()[i*ldc+j], want[i*ldc+j]
					if k <= kcMax && !equalBits(got, w) || math.Abs(float64(got-w)) > 1e-4 {
						t.Fatalf("m=%d n=%d k=%d ta=%v tb=%v add=%v: (%d,%d) is %v, want %v", m, n, k, ta, tb, add, i, j, got, w)
					}
				}
			}
		}
	})
}
