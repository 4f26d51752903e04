package nn

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fenced returns n random numbers that end at a page that may not be touched
// or, with atStart, begin after one: a kernel that reads or writes past its
// slice dies.
func fenced(t *testing.T, rng *rand.Rand, n int, atStart bool) []float32 {
	t.Helper()
	page := unix.Getpagesize()
	size := max(1, (4*n+page-1)/page) * page
	mem, err := unix.Mmap(-1, 0, size+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	for _, fence := range [][]byte{mem[:page], mem[page+size:]} {
		if err := unix.Mprotect(fence, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	at := page + size - 4*n
	if atStart {
		at = page
	}
	x := unsafe.Slice((*float32)(unsafe.Pointer(&mem[at])), n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// TestAttentionStaysInside runs the kernels of attention on slices of exactly
// the size they ask for, between pages that may not be touched: with every
// number of panels that is handled on its own, all remainders of a panel, all
// widths up to more than the widest block, keys before the border and none.
func TestAttentionStaysInside(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for _, atStart := range []bool{false, true} {
		slice := func(n int) []float32 { return fenced(t, rng, n, atStart) }
		for n := 1; n <= 13*panel+1; n++ {
			E := 1 + rng.IntN(40)
			q, kp, s := slice(E), slice(roundUp(n)*E), slice(roundUp(n))
			scores(s, q, kp, n)
			for j := range n {
				var want float64
				for e, v := range q {
					want += float64(v) * float64(kp[j/panel*panel*E+e*panel+j%panel])
				}
				if math.Abs(float64(s[j])-want) > 1e-4 {
					t.Fatalf("%d keys of width %d: score %d is %g, want %g", n, E, j, s[j], want)
				}
			}
		}
		for E := 8; E <= 144; E += 8 {
			for _, n0 := range []int{0, 1, panel, 3 * panel} {
				for _, n := range []int{1, 2, 3, 15, 40} {
					ld := E + rng.IntN(9)
					p, out := slice(n0+n), slice(E)
					v0, v := slice(max(0, (n0-1)*ld+E)), slice((n-1)*ld+E)
					if n0 == 0 {
						v0 = nil
					}
					mixRows(out, p, v0, n0, v, n, ld)
					checkMix(t, out, p, v0, n0, v, ld)
				}
			}
		}
		for n := 1; n <= 2*panel+1; n++ {
			for _, n0 := range []int{0, panel, 2 * panel} {
				checkPair(t, slice, n0, n)
			}
		}
		for n := 1; n < 80; n++ {
			x, y, dst := slice(n), slice(n), slice(n)
			mulAdd(dst, x, y)
		}
	}
}

// checkMix compares a mixture of rows with its formula.
func checkMix(t *testing.T, out, p, v0 []float32, n0 int, v []float32, ld int) {
	t.Helper()
	for e, got := range out {
		var want float64
		for j, w := range p {
			rows := v0
			if j >= n0 {
				rows, j = v, j-n0
			}
			want += float64(w) * float64(rows[j*ld+e])
		}
		if math.Abs(float64(got)-want) > 1e-4 {
			t.Fatalf("mixture of %d+%d rows of width %d: element %d is %g, want %g", n0, len(p)-n0, len(out), e, got, want)
		}
	}
}

// checkPair runs attention of two heads at once between the pages.
func checkPair(t *testing.T, slice func(n int) []float32, n0, n int) {
	t.Helper()
	const E = 32
	if !pairWidth[float32](E) {
		return // without assembly there is only attend
	}
	var base, own [2]keyRun[float32]
	for h := range 2 {
		own[h] = keyRun[float32]{slice(roundUp(n) * E), slice(n * E), n}
		if n0 > 0 {
			base[h] = keyRun[float32]{slice(n0 * E), slice(n0 * E), n0}
		}
	}
	up := n0 + roundUp(n)
	q, out, prob := slice(2*E), slice(2*E), slice(2*up)
	attendPair(out, prob, q, base[0], own[0], base[1], own[1], 0.3)
	for h := range 2 {
		p := prob[h*up : h*up+n0+n]
		checkMix(t, out[h*E:(h+1)*E], p, base[h].v, n0, own[h].v, E)
	}
}
