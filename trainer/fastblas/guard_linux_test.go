package fastblas

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fenced returns n floats that end at a page that may not be touched or, with
// atStart, begin after one: a kernel that reads past its matrix dies.
func fenced(t *testing.T, n int, atStart bool) []float32 {
	t.Helper()
	page := unix.Getpagesize()
	size := (4*n + page - 1) / page * page
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
	return unsafe.Slice((*float32)(unsafe.Pointer(&mem[at])), n)
}

func TestProductsStayInside(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range 120 {
			m, n, k := 1+rng.IntN(70), 1+rng.IntN(140), 1+rng.IntN(70)
			if i%10 == 0 {
				k += 250
			}
			a, b, c := fenced(t, m*k, i%2 == 0), fenced(t, k*n, i%2 == 0), fenced(t, m*n, i%2 == 0)
			bias := fenced(t, n, i%2 == 0)
			ep := Epilogue{Bias: bias, Act: Activation(rng.IntN(3))}
			for _, ta := range []bool{false, true} {
				for _, tb := range []bool{false, true} {
					lda, ldb := k, n
					if ta {
						lda = m
					}
					if tb {
						ldb = k
					}
					Gemm(c, n, ta, a, lda, tb, b, ldb, m, n, k, 1, ep, nil)
				}
			}
			p := NewPacked(k, n)
			p.Pack(b, n)
			p.PackTrans(b, k)
			GemmPacked(c, n, a, k, p, m, ep, nil)
			panels := fenced(t, roundUp(n)*k, i%2 == 0)
			PackPanels(panels, b, n, k, n)
			GemmPanels(c, n, a, k, 1, panels, k*PanelWidth, m, n, k, i%3 == 0)
			PackPanelsTrans(panels, b, k, k, n)
			GemmPanels(c, n, a, 1, m, panels, k*PanelWidth, m, n, k, i%3 == 0)
		}
	})
}
