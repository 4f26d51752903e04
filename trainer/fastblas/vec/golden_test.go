package vec

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

var update = flag.Bool("update", false, "write testdata/kernels.txt from the kernels of this machine")

const goldenFile = "testdata/kernels.txt"

// TestKernelsHaveTheSameBitsEverywhere compares hashes of results with those in
// a file. Every kind of assembly, on amd64 and on arm64, must give the bits that
// the AVX2 kernels gave when it was written; NaN are all one, since their signs
// are not. The Go kernels round elsewhere and are left out.
func TestKernelsHaveTheSameBitsEverywhere(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		if !fast {
			return
		}
		got := goldenKernels()
		if *update {
			if err := os.WriteFile(goldenFile, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
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
				t.Errorf("%q, want %q", gots[i], want)
			}
		}
	})
}

// goldenKernels runs every function on slices of all lengths up to some turns,
// without special values and with, and returns a line with a hash for each.
func goldenKernels() string {
	var b strings.Builder
	for _, mixed := range []bool{false, true} {
		hashes := map[string]uint64{}
		var order []string
		for n := range 170 {
			rng := rand.New(rand.NewPCG(uint64(n), 7))
			for _, r := range everything(func() []float32 { return exact(rng, n, mixed) }, n, n/2) {
				if r.nan {
					r.bits = math.Float64bits(math.NaN())
				}
				if _, seen := hashes[r.of]; !seen {
					order = append(order, r.of)
				}
				h := fnv.New64a()
				_, _ = fmt.Fprintf(h, "%x %x", hashes[r.of], r.bits)
				hashes[r.of] = h.Sum64()
			}
		}
		for _, name := range order {
			fmt.Fprintf(&b, "%s special=%v %016x\n", name, mixed, hashes[name])
		}
	}
	return b.String()
}

// exact returns numbers from whole ones, so that they are the same on every
// machine, and with mixed special ones among them.
func exact(rng *rand.Rand, n int, mixed bool) []float32 {
	x := newGuarded(rng, n).slice()
	for i := range x {
		x[i] = float32(math.Ldexp(float64(rng.IntN(1<<24)-1<<23), rng.IntN(7)-25))
		if mixed && rng.IntN(8) == 0 {
			x[i] = special[rng.IntN(len(special))]
		}
	}
	return x
}
