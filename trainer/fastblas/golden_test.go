package fastblas

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/products.txt from the kernels of this machine")

const goldenFile = "testdata/products.txt"

// TestProductsHaveTheSameBitsEverywhere compares hashes of results with those
// in a file. Every kind of assembly, on amd64 and on arm64, must give the bits
// that the AVX2 kernels gave when it was written; NaN are all one, since their
// signs are not. The Go kernels round their products and are left out.
func TestProductsHaveTheSameBitsEverywhere(t *testing.T) {
	compared := false
	for _, name := range kernelNames() {
		if name == "go" {
			continue
		}
		restore := useKernels(name)
		got := goldenProducts()
		restore()
		if *update && !compared {
			if err := os.WriteFile(goldenFile, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		compareGolden(t, name, got)
		compared = true
	}
	if !compared && Kernels() != "go" {
		t.Error("nothing was compared")
	}
}

func compareGolden(t *testing.T, kernels, got string) {
	t.Helper()
	text, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	wants, gots := strings.Split(string(text), "\n"), strings.Split(got, "\n")
	if len(wants) != len(gots) {
		t.Fatalf("%d lines of hashes, want %d", len(gots), len(wants))
	}
	for i, want := range wants {
		if gots[i] != want {
			t.Errorf("%s: %q, want %q", kernels, gots[i], want)
		}
	}
}

// goldenProducts multiplies matrices of all numbers of rows up to two tiles
// and of all kinds of number, and returns a line with a hash for each.
func goldenProducts() string {
	columns := append([]int{31, 32, 33, 47, 48, 63, 64, 65, 81, 100, 130}, sizes[:14]...)
	inner := []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 33, 64, 255, 256, 257, 300, 600}
	var b strings.Builder
	for mode := range extremes {
		for rows := 1; rows <= 14; rows++ {
			rng := rand.New(rand.NewPCG(uint64(mode), uint64(rows)))
			h := fnv.New64a()
			for i, n := range columns {
				m := rows
				if rows == 14 {
					m = 14 + 9*i
				}
				for _, v := range exactProduct(rng, m, n, inner[rng.IntN(len(inner))], extremes[mode]) {
					u := math.Float32bits(v)
					if v != v {
						u = 0x7fc00000
					}
					_, _ = h.Write([]byte{byte(u), byte(u >> 8), byte(u >> 16), byte(u >> 24)})
				}
			}
			fmt.Fprintf(&b, "mode=%d rows=%d %016x\n", mode, rows, h.Sum64())
		}
	}
	return b.String()
}

// exactProduct multiplies in all ways that there are. Its numbers come from
// whole ones, so that they are the same on every machine.
func exactProduct(rng *rand.Rand, m, n, k int, values []float32) []float32 {
	p := newProblem(rand.New(rand.NewPCG(rng.Uint64(), 1)), m, n, k)
	fill := func(x []float32) []float32 {
		for i := range x {
			x[i] = float32(math.Ldexp(float64(rng.IntN(1<<24)-1<<23), rng.IntN(6)-25))
		}
		sprinkle(rng, x, 1, len(x), len(x), values, 1+rng.IntN(2*k))
		return x
	}
	a, b, before, bias := fill(p.a.slice()), fill(p.b.slice()), fill(p.c.slice()), fill(make([]float32, n))
	ep := Epilogue{Accumulate: rng.IntN(2) == 0}
	if !ep.Accumulate && rng.IntN(2) == 0 {
		ep.Bias = bias
	}
	alpha := []float32{1, 1, -0.375, 1.1}[rng.IntN(4)]
	var all []float32
	multiply := func(f func(c []float32)) {
		c := append([]float32(nil), before...)
		f(c)
		all = append(all, c...)
	}
	multiply(func(c []float32) {
		Gemm(c, p.ldc, p.ta, a, p.lda, p.tb, b, p.ldb, m, n, k, alpha, ep, nil)
	})
	packed, panels := NewPacked(k, n), make([]float32, roundUp(n)*k)
	if p.tb {
		packed.PackTrans(b, p.ldb)
		PackPanelsTrans(panels, b, p.ldb, k, n)
	} else {
		packed.Pack(b, p.ldb)
		PackPanels(panels, b, p.ldb, k, n)
	}
	rsA, csA := p.lda, 1
	if p.ta {
		rsA, csA = 1, p.lda
	} else {
		multiply(func(c []float32) { GemmPacked(c, p.ldc, a, p.lda, packed, m, ep, nil) })
	}
	multiply(func(c []float32) {
		GemmPanels(c, p.ldc, a, rsA, csA, panels, k*PanelWidth, m, n, k, ep.Accumulate)
	})
	return all
}
