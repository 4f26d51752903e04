package nn

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

var updateBits = flag.Bool("update-bits", false, "write testdata/attention.txt from the kernels of this machine")

const bitsFile = "testdata/attention.txt"

// TestAttentionHasTheSameBitsEverywhere compares hashes of results of the
// kernels with those in a file. Every kind of assembly, on amd64 and on arm64,
// must give the bits that the AVX2 kernels gave when it was written. Without
// assembly products are rounded elsewhere.
func TestAttentionHasTheSameBitsEverywhere(t *testing.T) {
	if !fast {
		t.Log("no assembly here")
		return
	}
	got := attentionBits()
	if *updateBits {
		if err := os.WriteFile(bitsFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(bitsFile)
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
}

// attentionBits runs the kernels on all numbers of panels and widths that are
// handled on their own and returns a line with a hash for each. Numbers come
// from whole ones, so that they are the same on every machine, with some that
// are not finite or denormal in every fourth run; NaN are all one.
func attentionBits() string {
	var b strings.Builder
	rng := rand.New(rand.NewPCG(11, 12))
	run := 0
	slice := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(math.Ldexp(float64(rng.IntN(1<<24)-1<<23), rng.IntN(6)-25))
			if run%4 == 3 && rng.IntN(50) == 0 {
				x[i] = []float32{float32(math.Inf(1)), float32(math.NaN()), 1e-40, -1e-44, 0}[rng.IntN(5)]
			}
		}
		return x
	}
	h := fnv.New64a()
	add := func(x []float32) {
		for _, v := range x {
			if v != v {
				v = float32(math.NaN())
			}
			_, _ = fmt.Fprintf(h, "%x ", math.Float32bits(v))
		}
	}
	line := func(format string, args ...any) {
		fmt.Fprintf(&b, format+" %016x\n", append(args, h.Sum64())...)
		h.Reset()
		run++
	}
	for n := 1; n <= 13*panel; n += 7 {
		E := 1 + rng.IntN(40)
		s := make([]float32, roundUp(n))
		scores(s, slice(E), slice(roundUp(n)*E), n)
		add(s)
		line("scores n=%d E=%d", n, E)
	}
	for E := 8; E <= 144; E += 8 {
		for _, n0 := range []int{0, 1, 3 * panel} {
			n, ld, out := 1+rng.IntN(40), E+rng.IntN(9), make([]float32, E)
			mixRows(out, slice(n0+n), slice(n0*ld), n0, slice(n*ld), n, ld)
			add(out)
		}
		line("mixRows E=%d", E)
	}
	for n := 1; n <= 2*panel+1; n++ {
		for _, n0 := range []int{0, panel, 2 * panel} {
			const E = 32
			var base, own [2]keyRun[float32]
			for i := range 2 {
				base[i] = keyRun[float32]{slice(n0 * E), slice(n0 * E), n0}
				own[i] = keyRun[float32]{slice(roundUp(n) * E), slice(n * E), n}
			}
			out, prob := make([]float32, 2*E), make([]float32, 2*(n0+roundUp(n)))
			attendPair(out, prob, slice(2*E), base[0], own[0], base[1], own[1], 0.3)
			add(out)
		}
		line("attendPair n=%d", n)
	}
	for n := 1; n < 80; n += 3 {
		x, y, dst := slice(n), slice(n), slice(n)
		mulAdd(dst, x, y)
		add(dst)
	}
	line("mulAdd")
	return b.String()
}
