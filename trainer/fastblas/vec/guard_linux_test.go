package vec

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fenced returns n floats that end at a page that may not be touched or, with
// atStart, begin after one: a kernel that reads past its slice dies.
func fenced(t *testing.T, n int, atStart bool) []float32 {
	t.Helper()
	page := unix.Getpagesize()
	mem, err := unix.Mmap(-1, 0, 3*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	for _, fence := range [][]byte{mem[:page], mem[2*page:]} {
		if err := unix.Mprotect(fence, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	at := 2*page - 4*n
	if atStart {
		at = page
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&mem[at])), n)
}

func TestKernelsStayInside(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		for n := 2; n < 80; n += 2 {
			for _, atStart := range []bool{false, true} {
				var s [5][]float32
				for i := range s {
					s[i] = fenced(t, n, atStart)
				}
				x, y, z, u, v := s[0], s[1], s[2], s[3], s[4]
				stat, half := fenced(t, 1, atStart), fenced(t, n/2, atStart)
				for _, k := range elementwise {
					k.run(x, [][]float32{y, z})
				}
				SwiGLUBackward(x, y, z, u, v)
				Softmax(x, y, 1)
				SoftmaxBackward(x, y, z, 1)
				LogProbBackward(x, y, 1, n-1, LogProb(y, 1, n-1), 1, 1)
				LayerNorm(x, stat, stat, y, z, u, 1)
				LayerNormBackward(x, y, z, u, v, u, stat, stat)
				RMSNorm(x, stat, y, z, 1)
				RMSNormBackward(x, y, z, u, v, stat)
				RoPE(x, half, half)
				AdamW{Beta1: 0.9, Beta2: 0.9, Eps: 1}.Step(x, y, z, u, 1, 1)
				_ = Sum(x) + Dot(x, y) + Max(x) + float32(SumSquares(x)) + squaredDistance(x, 1)
			}
		}
	})
}
